import Foundation
import StorageLMDB
import StorageMemory
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

/// A reference that keeps nothing alive.
private final class Weak {
  private(set) weak var value: Replicator?

  init(_ value: Replicator?) { self.value = value }
}

@MainActor @Suite("A store that is opened for a server")
struct OpeningTests {
  private let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
  private let directory = TemporaryDirectory()

  private func configuration(_ name: String, _ connector: any SyncConnector) -> Store.Configuration {
    var configuration = Store.Configuration.lmdb(directory.file(name), models: Note.self)
    configuration.sync = SyncConfiguration(user: FixedToken(name), path: "/shared/notes", connector: connector)
    configuration.sync?.options.firstDelay = .milliseconds(5)
    configuration.sync?.options.longestDelay = .milliseconds(20)
    return configuration
  }

  @Test("is replicated from then on, by one replicator for all stores of the file, until the last of them is gone")
  func openingStarts() async throws {
    let wire = TestConnector(host)
    var ann: Store? = try Store(configuration("ann", wire))
    var again: Store? = try Store(configuration("ann", wire))
    #expect(ann?.sync != nil && ann?.sync === again?.sync)
    let bob = try Store(configuration("bob", TestConnector(host)))
    try ann?.write { _ = try ann?.create(Note.self, value: ["id": "a", "text": "hello"]) }
    try await ann?.sync?.uploaded()
    try await bob.sync?.downloaded()
    bob.refresh()
    #expect(bob.object(Note.self, forPrimaryKey: "a")?.text == "hello")
    ann = nil
    // One of them is still open.
    try again?.write { _ = try again?.create(Note.self, value: ["id": "b"]) }
    try await again?.sync?.uploaded()
    let replicator = Weak(again?.sync)
    again = nil
    while replicator.value != nil { await Task.yield() }
    // The right to replicate the file is free: another opening takes it.
    let third = try Store(configuration("ann", wire))
    try await third.sync?.downloaded()
    #expect(await third.sync?.state == .live)
  }

  @Test("opens, reads and writes where there is no server")
  func withoutServer() async throws {
    let wire = TestConnector(host)
    await wire.cut()
    let store = try Store(configuration("ann", wire))
    try store.write { _ = try store.create(Note.self, value: ["id": "a"]) }
    #expect(store.objects(Note.self).count == 1)
  }

  @Test("has no replicator where it is opened for reading alone, or names no server")
  func withoutReplicator() throws {
    var local = Store.Configuration.lmdb(directory.file("local"), models: Note.self)
    local.sync = SyncConfiguration()
    #expect(try Store(local).sync == nil)
    #expect(local.sync != nil)
    local.sync = nil
    #expect(try Store(local).sync == nil)
    var reading = configuration("local", TestConnector(host))
    reading.options.isReadOnly = true
    #expect(try Store(reading).sync == nil)
  }

  @Test("sends what was in the file before, where it is told to")
  func adoption() async throws {
    var before = Store.Configuration.lmdb(directory.file("ann"), models: Note.self)
    before.sync = nil
    do {
      let store = try Store(before)
      try store.write { _ = try store.create(Note.self, value: ["id": "old", "text": "mine"]) }
    }
    var sync = SyncConfiguration(user: FixedToken("ann"), path: "/shared/notes", connector: TestConnector(host), existing: .merge)
    sync.options.firstDelay = .milliseconds(5)
    before.sync = sync
    let store = try Store(before)
    let bob = try Store(configuration("bob", TestConnector(host)))
    try store.write { _ = try store.create(Note.self, value: ["id": "new"]) }
    try await store.sync?.uploaded()
    try await bob.sync?.downloaded()
    bob.refresh()
    #expect(bob.object(Note.self, forPrimaryKey: "old")?.text == "mine")
    #expect(bob.objects(Note.self).count == 2)
  }

  @Test("tries again where the file of who replicates it could not be made, and says why meanwhile")
  func theTurnIsTriedAgain() async throws {
    let inTheWay = directory.file("ann").path + ".sync"
    try FileManager.default.createDirectory(atPath: inTheWay, withIntermediateDirectories: false)
    let configuration = configuration("ann", TestConnector(host))
    let store = try Store(configuration)
    let sync = try #require(store.sync)
    try store.write { _ = try store.create(Note.self, value: ["id": "a"]) }
    await waitFor(await sync.notices()) { if case .file = $0 { true } else { false } }
    // Not that another process has the file.
    await waitFor(await sync.notices()) { if case .state(.fileUnavailable(let error)) = $0 { !error.remedy.isEmpty } else { false } }
    try FileManager.default.removeItem(atPath: inTheWay)
    try await sync.uploaded()
    #expect(await sync.state == .live)
  }

  @Test("may be one in memory whose name looks like a path")
  func aNameLikeAPath() async throws {
    var configuration = Store.Configuration.memory("/no/such/folder", models: Note.self)
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: "/shared/notes", connector: TestConnector(host))
    let store = try Store(configuration)
    try store.write { _ = try store.create(Note.self, value: ["id": "a"]) }
    try await store.sync?.uploaded()
    #expect(await store.sync?.state == .live)
  }
}
