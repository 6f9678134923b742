import Foundation
import StorageLMDB
import StorageMemory
import StoreMessages
import SyncClient
import SyncEvents
import SyncManagement
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

/// A server that nobody reaches.
private struct NoServer: SyncConnector, WebRequester {
  func connect() async throws(TransportError) -> any SyncTransport { throw TransportError(.unreachable, "Nobody is there.") }

  func answer(to request: WebRequest) async throws(TransportError) -> WebAnswer {
    WebAnswer(
      status: 200, type: "application/json",
      body: Array(#"{"user": "ann", "accessToken": "a", "expiresIn": 900, "refreshToken": "r"}"#.utf8))
  }
}

/// What Docs/Sync.md shows of permissions and events compiles, and does what it says.
@MainActor @Suite(.timeLimit(.minutes(15))) struct SyncEventsPageTests {
  @Test func `the page's wish waits for a server`() async throws {
    let directory = TemporaryDirectory("management")
    let folder = URL(fileURLWithPath: directory.file("x").path).deletingLastPathComponent()
    let connector = NoServer()
    let users = SyncUsers(file: folder.appending(path: "users"), server: connector)
    let ann = try await users.logIn("ann", password: "secret")
    let management = try ann.managementStore(.lmdb(folder.appending(path: "management")), connector: connector)
    let change = SyncPermissionChange(storeURL: "/~/tasks", userID: "bob", mayRead: true, mayWrite: true)
    try management.write { try management.add(change) }
    let token = change.observe { _ in print(change.status, change.statusMessage ?? "") }
    #expect(change.status == .notProcessed)
    token.stop()
    await management.sync?.stop()
  }

  @Test func `the page's handler bills each order once`() async throws {
    let shop = Shop()
    let device = try await shop.open(path: "/shared/orders")
    let stores = shop.stores
    let events = ServerEvents(stores, models: Order.self, Customer.self, Address.self, Invoice.self)
    try await events.on(store: "/*/orders", Order.self, named: "billing", where: { $0.total > 0 }) { change, store in
      guard change.kind == .insert, let order = change.object(in: store) else { return }
      _ = try store.create(Invoice.self, value: ["order": order.id, "total": order.total])
      order.status = "billed"
    }
    let running = RunningEvents(events)
    try await running.caughtUp(shop, path: "/shared/orders")
    try await device.send { for total in 0...2 { _ = try device.create(Order.self, value: ["id": "\(total)", "total": total]) } }
    try await running.caughtUp(shop, path: "/shared/orders")
    await running.end()
    try await device.received()
    #expect(device.objects(Invoice.self).map(\.total).sorted() == [1, 2])
    #expect(device.objects(Order.self).filter { $0.status == "billed" }.count == 2)
  }

  @Test func `the page's question is answered in the same object`() async throws {
    let shop = Shop()
    var configuration = Store.Configuration.memory(UUID().uuidString)
    configuration.models = [Question.self]
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: "/~/questions", connector: HostConnector(host: shop.host))
    let store = try Store(configuration)
    let events = ServerEvents(shop.stores)
    try await events.answer(store: "/*/questions", Question.self, named: "answers") { question, change, store in
      if question.text.isEmpty { return question.fail(message: "There is no question.") }
      question.answer = "42"
    }
    let running = RunningEvents(events)
    let question = try await store.send(Question(text: "?"), timeout: .seconds(60))
    #expect(question.status == .success && question.answer == "42")
    let empty = try await store.send(Question(text: ""), timeout: .seconds(60))
    #expect(empty.status == .error && empty.statusMessage == "There is no question.")
    await running.end()
  }
}
