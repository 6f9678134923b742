#if Sync
import Foundation
import SyncModel
import SyncProtocol
import SyncServer
import SyncTokens
import Testing

@Suite("The routes of a server")
struct RoutesTests {
  private func withAdministrator() async throws -> (server: TestServer, token: String) {
    let server = try await TestServer()
    try await server.add("root", password: "something long", isAdministrator: true)
    return (server, try await server.accounts.logIn("root", password: "something long", from: "1").accessToken)
  }

  private func field(_ text: String, _ name: String) -> String? {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?[name] as? String
  }

  @Test("log users in, refresh and log out")
  func accounts() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    let wrong = await server.ask("POST", "/auth/v1/login", ["user": "ann", "password": "wrong"])
    #expect(wrong.status == 401)
    #expect(field(wrong.text, "remedy") != nil)
    let right = await server.ask("POST", "/auth/v1/login", ["user": "ann", "password": "correct horse", "device": "phone"])
    #expect(right.status == 200)
    let refresh = try #require(field(right.text, "refreshToken"))
    let next = await server.ask("POST", "/auth/v1/refresh", ["refreshToken": refresh])
    #expect(next.status == 200)
    let last = try #require(field(next.text, "refreshToken"))
    #expect(await server.ask("POST", "/auth/v1/logout", ["refreshToken": last]).status == 204)
    #expect(await server.ask("POST", "/auth/v1/refresh", ["refreshToken": last]).status == 401)
    #expect(await server.ask("POST", "/auth/v1/register", ["user": "eve", "password": "long enough"]).status == 403)
    for _ in 0..<5 { _ = await server.ask("POST", "/auth/v1/login", ["user": "ann", "password": "wrong"], from: "9") }
    #expect(await server.ask("POST", "/auth/v1/login", ["user": "ann", "password": "correct horse"], from: "9").status == 429)
  }

  @Test("say what is wrong with a request that they do not know, or cannot read")
  func wrong() async throws {
    let server = try await TestServer()
    #expect(await server.ask("POST", "/auth/v1/login").status == 400)
    #expect(await server.ask("POST", "/auth/v1/login", ["user": 5]).status == 400)
    for (method, path) in [
      ("GET", "/"), ("GET", ""), ("GET", "/auth/v1/login"), ("POST", "/auth/v2/login"), ("POST", "/auth/v1/nothing"), ("GET", "/health/x"),
      ("GET", "/admin"), ("POST", "//auth/v1/login"),
    ] { #expect(await server.ask(method, path).status == 404, "\(method) \(path)") }
    #expect(await server.ask("GET", "/health") == (200, "ok\n"))
  }

  @Test("of the administrator are for nobody else")
  func denied() async throws {
    let (server, _) = try await withAdministrator()
    try await server.add("ann", password: "correct horse")
    let token = try await server.accounts.logIn("ann", password: "correct horse", from: "2").accessToken
    for path in ["/admin/v1/users", "/admin/v1/stores", "/admin/v1/handlers", "/admin/v1/grants", "/admin/v1/sessions", "/metrics"] {
      #expect(await server.ask("GET", path).status == 401, "\(path)")
      #expect(await server.ask("GET", path, token: "nonsense").status == 401, "\(path)")
      #expect(await server.ask("GET", path, token: token).status == 403, "\(path)")
    }
    #expect(await server.ask("POST", "/admin/v1/users", ["name": "eve", "isAdministrator": true], token: token).status == 403)
    #expect(try await server.directory.user("eve") == nil)
  }

  @Test("administer users, who are out at once when they are suspended or get another password")
  func users() async throws {
    let (server, root) = try await withAdministrator()
    let added = await server.ask("POST", "/admin/v1/users", ["name": "ann", "password": "correct horse"], token: root)
    #expect(added.status == 201)
    #expect(!added.text.contains("scrypt"))
    #expect(await server.ask("POST", "/admin/v1/users", ["name": "ann", "password": "correct horse"], token: root).status == 409)
    #expect(await server.ask("POST", "/admin/v1/users", ["name": "a/b"], token: root).status == 400)
    let tokens = try await server.accounts.logIn("ann", password: "correct horse", from: "2")
    #expect(await server.ask("PATCH", "/admin/v1/users/ann", ["isSuspended": true], token: root).status == 200)
    #expect(await code { _ = try await server.identity(tokens.accessToken) } == .userSuspended)
    #expect(await code { _ = try await server.accounts.refresh(tokens.refreshToken) } == .userSuspended)
    #expect(await code { _ = try await server.accounts.logIn("ann", password: "correct horse", from: "2") } == .userSuspended)
    #expect(await server.ask("PATCH", "/admin/v1/users/ann", ["isSuspended": false], token: root).status == 200)
    let again = try await server.accounts.refresh(tokens.refreshToken)
    #expect(await server.ask("PATCH", "/admin/v1/users/ann", ["password": "another one"], token: root).status == 200)
    #expect(await code { _ = try await server.identity(again.accessToken) } == .tokenInvalid)
    _ = try await server.accounts.logIn("ann", password: "another one", from: "2")
    #expect(await server.ask("GET", "/admin/v1/users", token: root).text.contains("\"name\":\"ann\""))
    #expect(await server.ask("PATCH", "/admin/v1/users/root", ["isSuspended": true], token: root).status == 400)
    #expect(await server.ask("PATCH", "/admin/v1/users/nobody", ["isSuspended": true], token: root).status == 404)
    #expect(await server.ask("DELETE", "/admin/v1/users/ann", token: root).status == 204)
    #expect(await server.ask("DELETE", "/admin/v1/users/ann", token: root).status == 404)
    #expect(await server.ask("DELETE", "/admin/v1/users/root", token: root).status == 400)
  }

  @Test("add a user once, however many ask for him at once, and with the password of who is told so")
  func sameName() async throws {
    let (server, root) = try await withAdministrator()
    let passwords = (0..<8).map { "correct horse \($0)" }
    let answers: [String: Int] = await withTaskGroup(of: (String, Int).self) { group in
      for password in passwords {
        group.addTask {
          let answer = await server.ask("POST", "/admin/v1/users", ["name": "ann", "password": password], token: root)
          return (password, answer.status)
        }
      }
      var answers: [String: Int] = [:]
      for await (password, status) in group { answers[password] = status }
      return answers
    }
    #expect(answers.values.sorted() == [201] + [Int](repeating: 409, count: passwords.count - 1))
    let told = try #require(passwords.first(where: { answers[$0] == 201 }))
    _ = try await server.accounts.logIn("ann", password: told, from: "2")
  }

  @Test("give rights, and list stores")
  func grants() async throws {
    let (server, root) = try await withAdministrator()
    #expect(await server.ask("PUT", "/admin/v1/grants", ["user": "ann", "path": "/shared/shop", "rights": "rw"], token: root).status == 200)
    #expect(await server.ask("PUT", "/admin/v1/grants", ["user": "ann", "path": "shop", "rights": "rw"], token: root).status == 400)
    #expect(
      await server.ask("GET", "/admin/v1/grants", token: root).text == #"[{"path":"/shared/shop","rights":"rw","user":"ann"}]"#)
    try await server.host.stores.makeStore(try #require(StorePath("/shared/shop")))
    #expect(await server.ask("GET", "/admin/v1/stores", token: root).text == #"[{"head":0,"path":"/shared/shop"}]"#)
    #expect(await server.ask("GET", "/admin/v1/sessions", token: root).text == "[]")
  }

  @Test("remove a store for an administrator, and none that the server needs")
  func removal() async throws {
    let (server, root) = try await withAdministrator()
    let path = try #require(StorePath("/ann/shop/tasks"))
    try await server.host.stores.makeStore(path)
    #expect(await server.ask("DELETE", "/admin/v1/stores/ann/shop/tasks").status == 401)
    #expect(await server.ask("DELETE", "/admin/v1/stores/ann/shop", token: root).status == 404)
    #expect(await server.ask("DELETE", "/admin/v1/stores/ann//tasks", token: root).status == 404)
    #expect(await server.ask("DELETE", "/admin/v1/stores/__server/permissions", token: root).status == 400)
    #expect(try await server.host.stores.stores() == [path])
    #expect(await server.ask("DELETE", "/admin/v1/stores/ann/shop/tasks", token: root).status == 204)
    #expect(try await server.host.stores.stores() == [])
    let again = await server.ask("DELETE", "/admin/v1/stores/ann/shop/tasks", token: root)
    #expect(again.status == 404)
    #expect(field(again.text, "remedy") != nil)
  }

  /// The first answer may be lost.
  @Test("remove once more what is gone, for who says so")
  func repeatedRemoval() async throws {
    let (server, root) = try await withAdministrator()
    try await server.add("ann", password: "something long")
    let path = try #require(StorePath("/ann/tasks"))
    try await server.host.stores.makeStore(path)
    _ = try await server.host.stores.claim(path, handler: "mail", fromStart: true, until: server.now, at: server.now)
    for route in ["handlers/ann/tasks/mail", "handlers/mail", "stores/ann/tasks", "users/ann"] {
      for _ in 0..<2 { #expect(await server.ask("DELETE", "/admin/v1/\(route)", query: "if-there", token: root).status == 204, "\(route)") }
      #expect(await server.ask("DELETE", "/admin/v1/\(route)", token: root).status == 404, "\(route)")
    }
    #expect(try await server.host.stores.stores() == [])
    // What cannot be is still told.
    #expect(await server.ask("DELETE", "/admin/v1/stores/ann//tasks", query: "if-there", token: root).status == 404)
    #expect(await server.ask("DELETE", "/admin/v1/stores/__server/permissions", query: "if-there", token: root).status == 400)
    #expect(await server.ask("DELETE", "/admin/v1/users/root", query: "if-there", token: root).status == 400)
  }

  @Test("count what the server does, for who may see it")
  func metrics() async throws {
    let (server, root) = try await withAdministrator()
    _ = await server.ask("POST", "/auth/v1/login", ["user": "ann", "password": "wrong"])
    let (status, text) = await server.ask("GET", "/metrics", token: root)
    #expect(status == 200)
    for line in ["vivarium_connections 0", "vivarium_sessions 0", "vivarium_login_failures_total 1", "vivarium_backlog_bytes 0"] {
      #expect(text.contains("\n\(line)\n"), "\(line)")
    }
    for name in ["uploads_total", "refusals_total", "log_head", "stable_lag", "handler_lag"] {
      #expect(text.contains("# TYPE vivarium_\(name) "))
    }
    let local = await server.routes.answer(to: WebRequest(method: "GET", path: "/metrics", isLocal: true))
    #expect(local.status == 200)
  }

  @Test("say how far behind each handler of a store is")
  func handlers() async throws {
    let server = try await TestServer()
    let (stores, path) = (server.host.stores, try #require(StorePath("/shared/shop")))
    try await stores.makeStore(path)
    let replica = ReplicaID(1)
    _ = try await stores.bind(path, replica, secret: Array("secret".utf8), user: "ann", at: server.now)
    let uploads = (1...3).map { (number: UInt64) -> Upload in
      let stamp = Stamp(milliseconds: UInt64(server.now) + number, counter: 0, replica: replica)
      let object = ObjectIdentity("Thing", .int(Int64(number)))
      let creation = SyncModel.Operation(object, epoch: .zero, .create)
      return .changeset(Changeset(clientSeq: number, baseSeq: .zero, first: stamp, operations: [creation]))
    }
    _ = try await stores.commit(path, replica, uploads, refusalSeen: .zero, at: server.now) { _ in nil }
    let lease = try #require(try await stores.claim(path, handler: "mail", fromStart: true, until: .max, at: server.now))
    _ = try await stores.advance(path, lease, to: Seq(1), writing: [], at: server.now)
    _ = try await stores.claim(path, handler: "log", fromStart: false, until: .max, at: server.now)
    let text = await server.routes.metrics(of: [path])
    #expect(text.contains("\nvivarium_log_head{store=\"/shared/shop\"} 3\n"), "\(text)")
    #expect(text.contains("\nvivarium_handler_lag{store=\"/shared/shop\",handler=\"mail\"} 2\n"), "\(text)")
    #expect(text.contains("\nvivarium_handler_lag{store=\"/shared/shop\",handler=\"log\"} 0\n"), "\(text)")
    #expect(text.contains("\nvivarium_stable_lag{store=\"/shared/shop\"} 3\n"), "\(text)")
  }
}
#endif
