import Foundation
import StorageLMDB
import StorageMemory
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Counts the pages of objects that come over each connection, and ends one behind as many as a test says.
private final class PageWire: SyncConnector {
  private struct State {
    var counts: [Int] = []
    var limits: [Int]
  }

  private let wire: TestConnector
  private let state: Mutex<State>
  private let isMended = Mutex(false)

  /// - Parameter limits: how many pages come over the first connections; all over later ones.
  init(_ host: SyncHost, limits: [Int]) {
    wire = TestConnector(host)
    state = Mutex(State(limits: limits))
  }

  /// How many pages came over each connection over which any came.
  var counts: [Int] { state.withLock { $0.counts.filter { $0 > 0 } } }

  /// Lets connections behind the first be made.
  func mend() { isMended.withLock { $0 = true } }

  func connect() async throws(TransportError) -> any SyncTransport {
    let number = state.withLock { $0.counts.count }
    if number > 0, !isMended.withLock({ $0 }) { throw TransportError(.unreachable, "The wire is cut.") }
    let base = try await wire.connect()
    state.withLock { $0.counts.append(0) }
    return Counted(base: base, owner: self, number: number)
  }

  /// Notes a part; whether it is let through.
  fileprivate func passes(_ part: [UInt8], _ number: Int) -> Bool {
    // A page is of type 90; with flag 2 another part of it follows.
    guard part.count > 1, part[0] == 0x90, part[1] & 2 == 0 else { return true }
    return state.withLock { state in
      if number < state.limits.count, state.counts[number] >= state.limits[number] { return false }
      state.counts[number] += 1
      return true
    }
  }

  private struct Counted: SyncTransport {
    let base: any SyncTransport
    let owner: PageWire
    let number: Int

    func receive() async throws(TransportError) -> [UInt8]? {
      guard let part = try await base.receive() else { return nil }
      if owner.passes(part, number) { return part }
      await base.close()
      return nil
    }

    func send(_ parts: [[UInt8]]) async throws(TransportError) { try await base.send(parts) }
    func close() async { await base.close() }
  }
}

/// A first download that is interrupted goes on where it was.
@MainActor @Suite(.timeLimit(.minutes(15))) struct CutDownloadTests {
  private let directory = TemporaryDirectory("cut")

  /// A host with notes, each on a page of its own.
  private func host(_ notes: Int, textBytes: Int = 10) async throws -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    configuration.pageBytes = 1
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), configuration: configuration)
    let ann = try Device(host, "ann")
    for number in 0..<notes {
      let text = String(repeating: "\(number) ", count: textBytes / 2)
      try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "\(number)", "text": text]) }
    }
    await ann.replicator.start()
    try await ann.replicator.uploaded()
    await ann.replicator.stop()
    return host
  }

  private func opened(_ configuration: Store.Configuration, _ wire: PageWire) throws -> (Store, Replicator) {
    var configuration = configuration
    configuration.models = [Note.self]
    configuration.replicate()
    let store = try Store(configuration)
    var quick = Replicator.Options()
    (quick.firstDelay, quick.longestDelay) = (.milliseconds(5), .milliseconds(20))
    let replicator = store.replicator(path: "/shared/notes", connector: wire, credentials: FixedToken("bob"), options: quick)
    return (store, replicator)
  }

  private func kept(_ store: Store) async throws -> Int { try await SessionFile(store.file).standing().staged?.count ?? 0 }

  @Test(arguments: [1, 4, 8]) func `a cut behind a page costs no page, and what comes is one change`(page: Int) async throws {
    let wire = PageWire(try await host(9), limits: [page])
    let (store, replicator) = try opened(.memory(UUID().uuidString), wire)
    let (changes, continuation) = AsyncStream.makeStream(of: Int.self)
    var iterator = changes.makeAsyncIterator()
    let token = store.objects(Note.self).observe { change in
      if case .update(_, _, let insertions, _) = change { continuation.yield(insertions.count) } else { continuation.yield(0) }
    }
    #expect(await iterator.next() == 0)
    wire.mend()
    await replicator.start()
    try await replicator.downloaded()
    #expect(wire.counts == [page, 9 - page])
    #expect(await iterator.next() == 9)
    #expect(store.objects(Note.self).count == 9)
    token.stop()
    await replicator.stop()
  }

  @Test func `a process that begins again after a cut costs no page`() async throws {
    let wire = PageWire(try await host(9), limits: [4])
    let file = Store.Configuration.lmdb(directory.file("bob"))
    do {
      let (store, replicator) = try opened(file, wire)
      await replicator.start()
      // The pages are put aside after the connection has ended.
      while try await kept(store) < 4 { await Task.yield() }
      await replicator.stop()
    }
    wire.mend()
    let (store, replicator) = try opened(file, wire)
    #expect(try await kept(store) == 4)
    await replicator.start()
    try await replicator.downloaded()
    #expect(wire.counts == [4, 5])
    store.refresh()
    #expect(store.objects(Note.self).count == 9)
    #expect(try await kept(store) == 0)
    await replicator.stop()
  }

  @Test func `more than may be under way comes while the disk takes it`() async throws {
    // Twelve pages of 400 KiB, where 4 MiB may be under way.
    let wire = PageWire(try await host(12, textBytes: 400 << 10), limits: [7])
    let (store, replicator) = try opened(.lmdb(directory.file("large")), wire)
    wire.mend()
    await replicator.start()
    try await replicator.downloaded()
    #expect(wire.counts == [7, 5])
    store.refresh()
    #expect(store.objects(Note.self).count == 12)
    #expect(store.objects(Note.self).map(\.text.utf8.count).min() ?? 0 > 350 << 10)
    await replicator.stop()
  }
}
