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

@Model final class Note {
  @PrimaryKey var id = ""
  var text = ""
  var count = 0
  var tags: LiveList<String>
}

extension Store {
  /// Sends what waits to a host's store, and takes in what that has.
  @MainActor func exchange(_ path: String, with host: SyncHost, as user: String) async throws {
    let replicator = replicator(path: path, connector: TestConnector(host), credentials: FixedToken(user))
    await replicator.start()
    try await replicator.uploaded()
    try await replicator.downloaded()
    await replicator.stop()
    refresh()
  }
}

/// Connects to a host within the process, through a wire that can be cut.
final class TestConnector: SyncConnector {
  private struct State {
    var isCut = false
    var open: [any SyncTransport] = []
    var tries = 0
  }

  private let host: SyncHost
  private let state = Mutex(State())

  init(_ host: SyncHost) { self.host = host }

  var tries: Int { state.withLock { $0.tries } }

  func connect() async throws(TransportError) -> any SyncTransport {
    let (here, there) = MemoryTransport.pair()
    let isCut = state.withLock { state in
      state.tries += 1
      if !state.isCut { state.open.append(there) }
      return state.isCut
    }
    if isCut { throw TransportError(.unreachable, "The wire is cut.") }
    let host = host
    Task { await host.serve(there) }
    return here
  }

  func cut() async {
    let open = state.withLock { state in
      state.isCut = true
      defer { state.open = [] }
      return state.open
    }
    for transport in open { await transport.close() }
  }

  func mend() { state.withLock { $0.isCut = false } }

  /// Has the server say something that it does not say by itself, while it says nothing else.
  func say(_ message: ServerMessage) async throws {
    let parts = try FrameEncoder().parts(of: message.frame)
    // Connections that have ended hear nothing.
    for transport in state.withLock({ $0.open }) { try? await transport.send(parts) }
  }
}

/// A store that is replicated by a host.
@MainActor struct Device {
  let store: Store
  let wire: TestConnector
  let replicator: Replicator

  init(
    _ host: SyncHost, _ user: String, path: String = "/shared/notes", _ configuration: Store.Configuration? = nil,
    options: Replicator.Options? = nil
  ) throws {
    var configuration = configuration ?? .memory(UUID().uuidString)
    configuration.models = [Note.self]
    configuration.replicate()
    store = try Store(configuration)
    wire = TestConnector(host)
    var quick = Replicator.Options()
    (quick.firstDelay, quick.longestDelay) = (.milliseconds(5), .milliseconds(20))
    replicator = store.replicator(path: path, connector: wire, credentials: FixedToken(user), options: options ?? quick)
  }

  func note(_ id: String) throws -> Note? {
    store.refresh()
    return store.object(Note.self, forPrimaryKey: id)
  }
}

/// What a stream of notices says, up to one that passes a test.
func waitFor(_ notices: AsyncStream<SyncNotice>, _ isIt: @Sendable (SyncNotice) -> Bool) async {
  for await notice in notices where isIt(notice) { return }
}

@MainActor @Suite("A replicator")
struct ReplicatorTests {
  private let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())

  @Test("brings what was written on one device to another, both ways, as it happens")
  func bothWays() async throws {
    let (ann, bob) = (try Device(host, "ann"), try Device(host, "bob"))
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a", "text": "hello"]) }
    await ann.replicator.start()
    await bob.replicator.start()
    try await ann.replicator.uploaded()
    try await bob.replicator.downloaded()
    let note = try #require(try bob.note("a"))
    #expect(note.text == "hello")
    try bob.store.write { note.text = "hello, Ann" }
    try await bob.replicator.uploaded()
    try await ann.replicator.downloaded()
    #expect(try ann.note("a")?.text == "hello, Ann")
    #expect(await ann.replicator.state == .live)
  }

  @Test("tells ordinary observers what others did")
  func observers() async throws {
    let (ann, bob) = (try Device(host, "ann"), try Device(host, "bob"))
    await ann.replicator.start()
    await bob.replicator.start()
    try await bob.replicator.downloaded()
    let (changes, continuation) = AsyncStream.makeStream(of: Int.self)
    let token = bob.store.objects(Note.self).observe { change in
      if case .update(_, _, let insertions, _) = change { continuation.yield(insertions.count) } else { continuation.yield(0) }
    }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == 0)
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a"]) }
    #expect(await iterator.next() == 1)
    token.stop()
  }

  @Test("works without a connection, and both devices show the same when it is back")
  func offline() async throws {
    let (ann, bob) = (try Device(host, "ann"), try Device(host, "bob"))
    await ann.replicator.start()
    await bob.replicator.start()
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a", "text": "one"]) }
    try await ann.replicator.uploaded()
    try await bob.replicator.downloaded()
    await ann.wire.cut()
    await bob.wire.cut()
    let (mine, theirs) = (try #require(try ann.note("a")), try #require(try bob.note("a")))
    try ann.store.write {
      mine.tags.append("ann")
      mine.increment(\.count)
    }
    try bob.store.write {
      theirs.text = "two"
      theirs.tags.append("bob")
      theirs.increment(\.count)
    }
    ann.wire.mend()
    bob.wire.mend()
    await ann.replicator.retry()
    await bob.replicator.retry()
    for device in [ann, bob] { try await device.replicator.uploaded() }
    for device in [ann, bob] { try await device.replicator.downloaded() }
    for device in [ann, bob] {
      let note = try #require(try device.note("a"))
      #expect(note.text == "two")
      #expect(note.count == 2)
      #expect(Set(note.tags) == ["ann", "bob"])
    }
    #expect(try ann.note("a").map { Array($0.tags) } == (try bob.note("a").map { Array($0.tags) }))
  }

  @Test("comes back by itself after the connection was lost again and again, and loses nothing")
  func cuts() async throws {
    let (ann, bob) = (try Device(host, "ann"), try Device(host, "bob"))
    await ann.replicator.start()
    await bob.replicator.start()
    for round in 0..<20 {
      try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a\(round)"]) }
      if round.isMultiple(of: 2) { await ann.wire.cut() } else { ann.wire.mend() }
      try bob.store.write { _ = try bob.store.create(Note.self, value: ["id": "b\(round)"]) }
      if round.isMultiple(of: 3) { await bob.wire.cut() } else { bob.wire.mend() }
    }
    ann.wire.mend()
    bob.wire.mend()
    for device in [ann, bob] { try await device.replicator.uploaded() }
    for device in [ann, bob] {
      try await device.replicator.downloaded()
      device.store.refresh()
      #expect(device.store.objects(Note.self).count == 40)
    }
  }

  @Test("stops where the user may not read, says so, and goes on when he may")
  func suspended() async throws {
    let access = ChangingAccess()
    let host = SyncHost(stores: MemoryServerStore(), access: access)
    let ann = try Device(host, "ann")
    let notices = await ann.replicator.notices()
    await ann.replicator.start()
    await waitFor(notices) { if case .state(.suspended(let error)) = $0 { error.code == .unknownStore } else { false } }
    access.allow()
    await ann.replicator.retry()
    try await ann.replicator.downloaded()
    #expect(await ann.replicator.state == .live)
  }

  @Test("keeps what it has where the server's store is removed, and brings what was not sent where it is made again")
  func removed() async throws {
    let path = try #require(StorePath("/shared/notes"))
    let ann = try Device(host, "ann")
    let notices = await ann.replicator.notices()
    await ann.replicator.start()
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "sent"]) }
    try await ann.replicator.uploaded()
    try await host.stores.removeStore(path)
    await waitFor(notices) { isOfRemoval($0) }
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "kept"]) }
    // It does not make the store again by itself.
    await ann.replicator.retry()
    await waitFor(notices) { isOfRemoval($0) }
    #expect(try await host.stores.stores() == [])
    #expect(Set(ann.store.objects(Note.self).map(\.id)) == ["sent", "kept"])
    try await host.stores.makeStore(path)
    await ann.replicator.retry()
    try await ann.replicator.uploaded()
    let bob = try Device(host, "bob")
    await bob.replicator.start()
    try await bob.replicator.downloaded()
    for device in [ann, bob] {
      device.store.refresh()
      #expect(device.store.objects(Note.self).map(\.id) == ["kept"])
    }
  }

  @Test("keeps what it has where its user may make no other store, and sends it when one was removed")
  func quota() async throws {
    let later = Mutex<Int64>(0)
    var configuration = ServerConnectionConfiguration()
    configuration.storesOfUser = 1
    let host = SyncHost(
      stores: MemoryServerStore(), access: OpenAccess(), configuration: configuration,
      clock: { Int64(Date().timeIntervalSince1970 * 1000) + later.withLock { $0 } })
    let (first, second) = (try Device(host, "ann", path: "/~/one"), try Device(host, "ann", path: "/~/two"))
    await first.replicator.start()
    try await first.replicator.downloaded()
    try second.store.write { _ = try second.store.create(Note.self, value: ["id": "kept"]) }
    let notices = await second.replicator.notices()
    await second.replicator.start()
    await waitFor(notices) {
      guard case .state(.suspended(let error)) = $0 else { return false }
      return error.code == .quotaExceeded && error.text.contains("1 stores") && !error.remedy.isEmpty
    }
    #expect(try second.note("kept") != nil)
    try await host.stores.removeStore(try #require(StorePath("/ann/one")))
    later.withLock { $0 += 1_000 }
    await second.replicator.retry()
    try await second.replicator.uploaded()
    #expect(await second.replicator.state == .live)
    #expect(try await host.stores.stores().map(\.text) == ["/ann/two"])
    for device in [first, second] { await device.replicator.stop() }
  }

  private nonisolated func isOfRemoval(_ notice: SyncNotice) -> Bool {
    guard case .state(.suspended(let error)) = notice else { return false }
    return error.code == .unknownStore && error.text.contains("/shared/notes") && !error.remedy.isEmpty
  }

  @Test("has one of a file at work, and another takes over when that ends")
  func takingOver() async throws {
    let ann = try Device(host, "ann")
    let second = ann.store.replicator(path: "/shared/notes", connector: TestConnector(host), credentials: FixedToken("ann"))
    await ann.replicator.start()
    try await ann.replicator.downloaded()
    await second.start()
    #expect(await second.state == .elsewhere)
    await ann.replicator.stop()
    #expect(await ann.replicator.state == .off)
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a"]) }
    try await second.uploaded()
    #expect(await second.state == .live)
  }

  @Test("takes a user's refused write back, and tells why")
  func refused() async throws {
    let host = SyncHost(stores: MemoryServerStore(), access: ReadingAccess())
    let ann = try Device(host, "ann")
    let notices = await ann.replicator.notices()
    await ann.replicator.start()
    try await ann.replicator.downloaded()
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a"]) }
    await waitFor(notices) { if case .problem(let error) = $0 { error.code == .writeDenied } else { false } }
    try await ann.replicator.uploaded()
    #expect(try ann.note("a") == nil)
  }

  @Test("sends a large write whole, and it arrives whole")
  func largeWrite() async throws {
    let (ann, bob) = (try Device(host, "ann"), try Device(host, "bob"))
    try ann.store.write {
      for number in 0..<40 {
        _ = try ann.store.create(Note.self, value: ["id": "\(number)", "text": String(repeating: "x", count: 200_000)])
      }
    }
    await ann.replicator.start()
    try await ann.replicator.uploaded()
    await bob.replicator.start()
    try await bob.replicator.downloaded()
    bob.store.refresh()
    #expect(bob.store.objects(Note.self).count == 40)
  }

  @Test("brings an object that is larger than a message to a server, to who comes later")
  func largeObject() async throws {
    let (ann, bob) = (try Device(host, "ann"), try Device(host, "bob"))
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a"]) }
    let note = try #require(try ann.note("a"))
    for number in 0..<4 { try ann.store.write { note.tags.append(String(repeating: "\(number)", count: 5 << 20)) } }
    await ann.replicator.start()
    try await ann.replicator.uploaded()
    await bob.replicator.start()
    try await bob.replicator.downloaded()
    #expect(try bob.note("a")?.tags.map(\.utf8.count) == Array(repeating: 5 << 20, count: 4))
  }

  @Test("waits no longer than it is wanted to")
  func givingUp() async throws {
    let ann = try Device(host, "ann")
    await ann.wire.cut()
    await ann.replicator.start()
    let replicator = ann.replicator
    let waiting = Task { try await replicator.downloaded() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let other = Task { try await replicator.downloaded() }
    await replicator.stop()
    await #expect(throws: (any Error).self) { try await other.value }
  }
}

/// Lets nobody in before it is told to.
final class ChangingAccess: SyncAccess {
  private let isAllowed = Mutex(false)

  func allow() { isAllowed.withLock { $0 = true } }

  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity { SyncIdentity(user: token) }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    isAllowed.withLock { $0 } ? .all : .none
  }
}

/// Lets everybody read, and nobody write.
struct ReadingAccess: SyncAccess {
  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity { SyncIdentity(user: token) }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    StoreGrant([.read], mayCreate: true)
  }
}
