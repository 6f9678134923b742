import SyncClient
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

@MainActor @Suite("A device whose store may have no more bytes", .timeLimit(.minutes(15)))
struct StoreSizeQuotaTests {
  private let stores = MemoryServerStore()

  private func host(_ limit: Int?) -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    (configuration.bytesOfStore, configuration.roomTime) = (limit, 0)
    return SyncHost(stores: stores, access: OpenAccess(), configuration: configuration)
  }

  @Test("is suspended with the reason, keeps what it wrote, and sends it once the store may have more")
  func quota() async throws {
    let ann = try Device(host(4_000), "ann")
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "small"]) }
    await ann.replicator.start()
    try await ann.replicator.uploaded()
    let notices = await ann.replicator.notices()
    let text = String(repeating: "long ", count: 2_000)
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "large", "text": text]) }
    await waitFor(notices) {
      guard case .state(.suspended(let error)) = $0 else { return false }
      return error.code == .quotaExceeded && error.text.contains("4000") && !error.remedy.isEmpty
    }
    #expect(try ann.note("large")?.text == text)
    // What is written meanwhile waits too.
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "later"]) }
    await ann.replicator.stop()

    let free = host(nil)
    let again = ann.store.replicator(path: "/shared/notes", connector: TestConnector(free), credentials: FixedToken("ann"))
    await again.start()
    try await again.uploaded()
    let bob = try Device(free, "bob")
    await bob.replicator.start()
    try await bob.replicator.downloaded()
    bob.store.refresh()
    #expect(bob.store.objects(Note.self).map(\.id).sorted() == ["large", "later", "small"])
    #expect(try bob.note("large")?.text == text)
    for replicator in [again, bob.replicator] { await replicator.stop() }
  }

  @Test("makes room by deleting what is there, with what waits to be sent before that")
  func room() async throws {
    let ann = try Device(host(nil), "ann")
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "a", "text": String(repeating: "long ", count: 10_000)]) }
    await ann.replicator.start()
    try await ann.replicator.uploaded()
    await ann.replicator.stop()

    let path = try #require(StorePath("/shared/notes"))
    let limited = host(try await stores.size(of: path) + 100)
    let again = ann.store.replicator(path: "/shared/notes", connector: TestConnector(limited), credentials: FixedToken("ann"))
    let notices = await again.notices()
    await again.start()
    try ann.store.write { _ = try ann.store.create(Note.self, value: ["id": "b", "text": String(repeating: "more ", count: 200)]) }
    await waitFor(notices) { if case .state(.suspended(let error)) = $0 { error.code == .quotaExceeded } else { false } }
    try ann.store.write { try ann.store.delete(ann.store.objects(Note.self)) }
    await again.retry()
    try await again.uploaded()
    await again.stop()

    let bob = try Device(host(nil), "bob")
    await bob.replicator.start()
    try await bob.replicator.downloaded()
    bob.store.refresh()
    #expect(bob.store.objects(Note.self).isEmpty)
    await bob.replicator.stop()
  }
}
