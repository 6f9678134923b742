import Dispatch
import Foundation
import StorageCoordination
import StorageInterface
import StorageLMDB
import StorageMemory
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncClient

/// Holds writes back while it is closed.
private final class Gate: Sendable {
  private let isClosed = Mutex(false)
  private let opening = DispatchSemaphore(value: 0)
  /// One for each write that was held back.
  let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation

  init() {
    let made = AsyncStream.makeStream(of: Void.self)
    arrivals = made.stream
    arrived = made.continuation
  }

  func close() { isClosed.withLock { $0 = true } }

  func open() {
    isClosed.withLock { $0 = false }
    opening.signal()
  }

  func pass() {
    guard isClosed.withLock({ $0 }) else { return }
    arrived.yield()
    opening.wait()
  }
}

private final class GatedEngine: EngineInFront {
  let base: any StorageEngine
  private let gate: Gate

  init(_ base: any StorageEngine, _ gate: Gate) { (self.base, self.gate) = (base, gate) }

  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    gate.pass()
    return try base.beginWrite(deadline)
  }
}

/// The right to replicate a file.
@MainActor @Suite(.timeLimit(.minutes(15))) struct SessionTurnTests {
  private let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())

  @Test func `the right is free when it was given up and the work that had begun is done`() async throws {
    let store = try Device(host, "ann").store
    let (first, second) = (SessionTurn(of: store.file), SessionTurn(of: store.file))
    #expect(try await first.begin())
    first.enter()
    first.end()
    #expect(!first.isHeld)
    #expect(try second.tryBegin() == false)
    first.leave()
    #expect(try second.tryBegin() && second.isHeld)
    // Whoever takes it again in between keeps it.
    second.enter()
    second.end()
    #expect(try await second.begin())
    second.leave()
    #expect(second.isHeld)
    #expect(try first.tryBegin() == false)
    second.end()
  }

  /// The end of the process itself is seen with programs that are killed.
  @Test func `the right of a process that has died is found at the next look, of which there are several within a second`() async throws {
    let directory = TemporaryDirectory()
    let store = try Device(host, "ann", Store.Configuration.lmdb(directory.file("ann"))).store
    // The lock of another process, until the system takes it back.
    let path = try #require(store.file.path) + FileTurn.replication
    let lock = Mutex<FileTurn?>(try FileTurn.take(path: path, "file of who replicates it"))
    let pauses = Mutex<[Duration]>([])
    let stood = Mutex(0)
    let turn = SessionTurn(of: store.file) { pause in
      let count = pauses.withLock { pauses in
        pauses.append(pause)
        return pauses.count
      }
      if count == 3 { lock.withLock { $0 = nil } }
    }
    #expect(try await turn.begin { stood.withLock { $0 += 1 } })
    #expect(turn.isHeld)
    // Once for each wait, and not once more after the third, in which it died.
    #expect(stood.withLock { $0 } == 3)
    #expect(pauses.withLock { $0 } == Array(repeating: SessionTurn.pause, count: 3))
    #expect(SessionTurn.pause * 4 <= .seconds(1))
    turn.end()
  }

  @Test func `a replicator that is stopped while it integrates gives up the file afterwards`() async throws {
    let gate = Gate()
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.backend = ForwardingBackend(configuration.backend) { GatedEngine($0, gate) }
    let (ann, bob) = (try Device(host, "ann", configuration), try Device(host, "bob"))
    await ann.replicator.start()
    try await ann.replicator.downloaded()
    gate.close()
    await bob.replicator.start()
    try bob.store.write { _ = try bob.store.create(Note.self, value: ["id": "a"]) }
    try await bob.replicator.uploaded()
    for await _ in gate.arrivals { break }
    await ann.replicator.stop()
    let turn = SessionTurn(of: ann.store.file)
    #expect(try turn.tryBegin() == false)
    gate.open()
    while try !turn.tryBegin() { await Task.yield() }
    #expect(try ann.note("a") != nil)
    turn.end()
  }

  @Test func `objects that come late do not hide what another process has integrated since`() async throws {
    let store = try Device(host, "ann").store
    let file = SessionFile(store.file)
    let (page, bound) = (SessionHarness.page(isLast: true), SessionHarness.bound(.snapshot))
    _ = try await file.standing()
    #expect(try await file.take([page], bound, clockOffset: nil, wall: 0).cursor == page.asOf)
    let object = ObjectIdentity(Name("Note"), .string(Name("a")))
    let creation = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_000, counter: 0, replica: ReplicaID(9)),
      operations: [SyncModel.Operation(object, epoch: .zero, .create)])
    let later = [LogEntry(Seq(page.asOf.rawValue + 4), .changeset(author: "bob", creation))]
    #expect(try await file.integrate(later, clockOffset: nil).cursor == later[0].seq)
    #expect(try await file.take([page], bound, clockOffset: nil, wall: 0).cursor == later[0].seq)
    store.refresh()
    #expect(store.object(Note.self, forPrimaryKey: "a") != nil)
  }
}
