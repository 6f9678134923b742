#if Sync
import Foundation
import SyncModel
import SyncProtocol
import SyncServer
import SyncTokens
import Testing

@Suite("The routes of handlers")
struct HandlerRoutesTests {
  private func administered() async throws -> (server: TestServer, token: String, path: StorePath) {
    let server = try await TestServer()
    try await server.add("root", password: "something long", isAdministrator: true)
    let token = try await server.accounts.logIn("root", password: "something long", from: "1").accessToken
    let path = try #require(StorePath("/ann/orders"))
    try await server.host.stores.makeStore(path)
    return (server, token, path)
  }

  /// A handler that has processed nothing of two entries, until its lease ends in a second, and one whose process has ended.
  private func withHandlers() async throws -> (server: TestServer, token: String, path: StorePath) {
    let (server, token, path) = try await administered()
    let (stores, replica) = (server.host.stores, ReplicaID(1))
    _ = try await stores.bind(path, replica, secret: Array("secret".utf8), user: "ann", at: server.now)
    let uploads = (1...2).map { (number: UInt64) -> Upload in
      let stamp = Stamp(milliseconds: UInt64(server.now) + number, counter: 0, replica: replica)
      let creation = SyncModel.Operation(ObjectIdentity("Thing", .int(Int64(number))), epoch: .zero, .create)
      return .changeset(Changeset(clientSeq: number, baseSeq: .zero, first: stamp, operations: [creation]))
    }
    _ = try await stores.commit(path, replica, uploads, refusalSeen: .zero, at: server.now) { _ in nil }
    _ = try await stores.claim(path, handler: "mail", fromStart: true, until: server.now + 1_000, at: server.now)
    _ = try await stores.claim(path, handler: "log", fromStart: false, until: server.now, at: server.now)
    return (server, token, path)
  }

  @Test("say how far each is, and until when a process has it")
  func listing() async throws {
    let (server, root, _) = try await withHandlers()
    let text = """
      [{"cursor":2,"lag":0,"name":"log","path":"/ann/orders"},\
      {"cursor":0,"lag":2,"leasedUntil":\(server.now + 1_000),"name":"mail","path":"/ann/orders"}]
      """
    #expect(await server.ask("GET", "/admin/v1/handlers", token: root) == (200, text))
    #expect(await server.ask("GET", "/admin/v1/handlers/ann/orders", token: root) == (200, text))
    #expect(await server.ask("GET", "/admin/v1/handlers/ann/nothing", token: root).status == 404)
    #expect(await server.ask("GET", "/admin/v1/handlers/__server/handlers", token: root).status == 404)
    #expect(await server.ask("GET", "/admin/v1/handlers").status == 401)
  }

  @Test("show in /metrics how far each is also at stores to which nobody is connected, if the server has few", arguments: [1, 2])
  func metrics(storesInMetrics: Int) async throws {
    let server = try await TestServer(storesInMetrics: storesInMetrics)
    for text in ["/ann/orders", "/bob/orders", "/__server/handlers"] {
      let path = try #require(StorePath(text))
      try await server.host.stores.makeStore(path)
      _ = try await server.host.stores.claim(path, handler: "mail", fromStart: true, until: server.now, at: server.now)
    }
    let answer = await server.routes.answer(to: WebRequest(method: "GET", path: "/metrics", isLocal: true))
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(text.contains("\nvivarium_stores 2\n"), "\(text)")
    for path in ["/ann/orders", "/bob/orders"] {
      #expect(text.contains("\nvivarium_handler_lag{store=\"\(path)\",handler=\"mail\"} 0\n") == (storesInMetrics == 2), "\(text)")
      #expect(text.contains("\nvivarium_stable_lag{store=\"\(path)\"} 0\n") == (storesInMetrics == 2), "\(text)")
    }
    #expect(!text.contains("__server") && text.hasSuffix("\nmore_total 1\n"), "\(text)")
  }

  @Test("remove the handler of a store that nobody runs, so that the store forgets what it held back")
  func removal() async throws {
    let (server, root, path) = try await withHandlers()
    let stores = server.host.stores
    #expect(await server.ask("DELETE", "/admin/v1/handlers/ann/orders/mail").status == 401)
    let held = await server.ask("DELETE", "/admin/v1/handlers/ann/orders/mail", token: root)
    #expect(held.status == 409 && held.text.contains("end the processes"))
    server.pass(seconds: 2)
    let acknowledgement = Acknowledgement(cursor: Seq(2), pendingBase: Seq(2), refusalSeen: .zero)
    try await stores.acknowledge(path, ReplicaID(1), acknowledgement, at: server.now)
    #expect(try await stores.purge(path, expiry: 0) == nil)
    #expect(await server.ask("DELETE", "/admin/v1/handlers/ann/orders/mail", token: root).status == 204)
    #expect(try await stores.purge(path, expiry: 0)?.stable == Seq(2))
    #expect(try await stores.handlers(path).keys.sorted() == ["log"])
    #expect(await server.ask("DELETE", "/admin/v1/handlers/ann/orders/mail", token: root).status == 404)
    #expect(await server.ask("DELETE", "/admin/v1/handlers/ann/nothing/mail", token: root).status == 404)
    #expect(await server.ask("DELETE", "/admin/v1/handlers/ann/orders/__permissions", token: root).status == 400)
  }

  @Test("remove a handler from all stores, with its name")
  func removalEverywhere() async throws {
    let (server, root, path) = try await withHandlers()
    let (stores, names) = (server.host.stores, HandlerNames.path)
    let other = try #require(StorePath("/bob/orders"))
    for made in [other, names] { try await stores.makeStore(made) }
    _ = try await stores.claim(other, handler: "mail", fromStart: true, until: server.now, at: server.now)
    for name in ["mail", HandlerNames.known("mail"), HandlerNames.known("log")] {
      _ = try await stores.claim(names, handler: name, fromStart: true, until: server.now, at: server.now)
    }
    // One process has it at one store: it stays at all.
    #expect(await server.ask("DELETE", "/admin/v1/handlers/mail", token: root).status == 409)
    #expect(try await stores.handlers(other)["mail"] != nil)
    server.pass(seconds: 2)
    #expect(await server.ask("DELETE", "/admin/v1/handlers/mail", token: root).status == 204)
    #expect(try await stores.handlers(path).keys.sorted() == ["log"])
    #expect(try await stores.handlers(other).isEmpty)
    #expect(try await stores.handlers(names).keys.sorted() == [HandlerNames.known("log")])
    #expect(await server.ask("DELETE", "/admin/v1/handlers/mail", token: root).status == 404)
  }
}
#endif
