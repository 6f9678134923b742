import Foundation
import StorageInterface
import StorageLMDB
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// An engine whose disk confirms nothing while it is told not to.
private final class UnsureEngine: EngineInFront, DeferredSync {
  let base: any StorageEngine
  private let disk: Disk
  var powers: EnginePowers { EnginePowers(announcing: base.powers.announcing, syncing: self) }

  /// What the test tells the engine.
  final class Disk: Sendable {
    private let state = Mutex(true)
    var isSure: Bool { state.withLock { $0 } }
    func set(sure: Bool) { state.withLock { $0 = sure } }
  }

  init(_ base: any StorageEngine, _ disk: Disk) { (self.base, self.disk) = (base, disk) }

  func syncCommits() throws(StorageError) {
    guard disk.isSure else { throw StorageError(.io, .transaction, "The disk does not answer.") }
    try base.powers.syncing?.syncCommits()
  }
}

/// Counts the uploads that go through a wire.
private final class CountingConnector: SyncConnector {
  private let wire: TestConnector
  private let uploads = Mutex(0)

  init(_ wire: TestConnector) { self.wire = wire }

  var count: Int { uploads.withLock { $0 } }

  func connect() async throws(TransportError) -> any SyncTransport { Counting(base: try await wire.connect(), owner: self) }

  private struct Counting: SyncTransport {
    let base: any SyncTransport
    let owner: CountingConnector

    func receive() async throws(TransportError) -> [UInt8]? { try await base.receive() }
    func send(_ parts: [[UInt8]]) async throws(TransportError) {
      // An upload is of type 04.
      owner.uploads.withLock { $0 += parts.count { $0.first == 4 } }
      try await base.send(parts)
    }
    func close() async { await base.close() }
  }
}

@MainActor @Suite("What the disk has not confirmed")
struct DurabilityTests {
  @Test("is not sent, and is when the disk has", arguments: [Durability.relaxed, .grouped(within: .milliseconds(1))])
  func confirmed(durability: Durability) async throws {
    let (directory, disk) = (TemporaryDirectory(), UnsureEngine.Disk())
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())
    let wire = CountingConnector(TestConnector(host))
    var configuration = Store.Configuration.lmdb(directory.file("ann"), models: Note.self)
    configuration.backend = ForwardingBackend(configuration.backend) { UnsureEngine($0, disk) }
    configuration.durability = durability
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: "/shared/notes", connector: wire)
    configuration.sync?.options.firstDelay = .milliseconds(5)
    configuration.sync?.options.longestDelay = .milliseconds(20)
    let store = try Store(configuration)
    let sync = try #require(store.sync)
    try await sync.downloaded()
    let notices = await sync.notices()
    disk.set(sure: false)
    do { try store.write { _ = try store.create(Note.self, value: ["id": "a"]) } } catch {}
    await waitFor(notices) { if case .file = $0 { true } else { false } }
    #expect(wire.count == 0)
    disk.set(sure: true)
    try await sync.uploaded()
    #expect(wire.count >= 1)
  }
}
