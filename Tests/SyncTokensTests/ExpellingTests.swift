#if Sync
import SyncModel
import SyncProtocol
import SyncServer
import SyncTokens
import Testing

/// A connection of a host, from the client's side.
private struct Connection {
  let transport: any SyncTransport

  init(_ host: SyncHost, token: String, path: String, replica: UInt64 = 1) async throws {
    let (here, there) = MemoryTransport.pair(capacity: 64)
    transport = here
    Task { await host.serve(there) }
    try await send(.hello(Hello(versions: [1], features: [], token: token)))
    try await send(
      .bind(
        session: 1,
        Bind(
          path: path, replica: ReplicaID(replica), secret: [1], cursor: .zero, history: [], refusalSeen: .zero, pendingBase: .zero,
          schemaHash: 0)))
  }

  func send(_ message: ClientMessage) async throws { try await transport.send(try FrameEncoder().parts(of: message.frame)) }

  /// The first error that comes; nil where the connection ends without one.
  func error() async throws -> (session: UInt32, code: SyncErrorCode)? {
    var decoder = FrameDecoder()
    while let part = try await transport.receive() {
      guard let frame = try decoder.take(part) else { continue }
      if case .error(let session, let code, _, _) = try ServerMessage(frame) { return (session, code) }
    }
    return nil
  }

  func isBound() async throws -> Bool {
    var decoder = FrameDecoder()
    while let part = try await transport.receive() {
      guard let frame = try decoder.take(part) else { continue }
      switch try ServerMessage(frame) {
      case .bound: return true
      case .error: return false
      default: break
      }
    }
    return false
  }
}

@Suite("Who is connected")
struct ExpellingTests {
  private func withAnn() async throws -> (server: TestServer, root: String, ann: Accounts.Tokens) {
    let server = try await TestServer()
    try await server.add("root", password: "something long", isAdministrator: true)
    try await server.add("ann", password: "correct horse")
    let root = try await server.accounts.logIn("root", password: "something long", from: "1").accessToken
    return (server, root, try await server.accounts.logIn("ann", password: "correct horse", from: "1"))
  }

  @Test("is out at once when he is suspended, and is told why")
  func suspended() async throws {
    let (server, root, ann) = try await withAnn()
    let connection = try await Connection(server.host, token: ann.accessToken, path: "/~/tasks")
    #expect(try await connection.isBound())
    #expect(await server.ask("GET", "/admin/v1/sessions", token: root).text == #"[{"backlog":0,"path":"/ann/tasks","user":"ann"}]"#)
    #expect(await server.ask("PATCH", "/admin/v1/users/ann", ["isSuspended": true], token: root).status == 200)
    let error = try await connection.error()
    #expect(error?.session == 0)
    #expect(error?.code == .userSuspended)
  }

  @Test("is out when his log-in ends, and the others of the same user are not")
  func loggedOut() async throws {
    let (server, _, ann) = try await withAnn()
    let other = try await server.accounts.logIn("ann", password: "correct horse", from: "1")
    let first = try await Connection(server.host, token: ann.accessToken, path: "/~/tasks")
    let second = try await Connection(server.host, token: other.accessToken, path: "/~/tasks", replica: 2)
    let bound = (try await first.isBound(), try await second.isBound())
    #expect(bound == (true, true))
    #expect(await server.ask("POST", "/auth/v1/logout", ["refreshToken": ann.refreshToken]).status == 204)
    #expect(try await first.error()?.code == .tokenInvalid)
    try await second.send(.ping(number: 1, roundTrip: 0))
    #expect(await server.host.sessions().count == 1)
  }

  @Test("loses a store when the right to read it is taken, and keeps the connection")
  func rights() async throws {
    let (server, root, ann) = try await withAnn()
    _ = await server.ask("PUT", "/admin/v1/grants", ["user": "ann", "path": "/shared/*", "rights": "rwm"], token: root)
    let connection = try await Connection(server.host, token: ann.accessToken, path: "/shared/shop")
    #expect(try await connection.isBound())
    _ = await server.ask("PUT", "/admin/v1/grants", ["user": "ann", "path": "/shared/*", "rights": "none"], token: root)
    let error = try await connection.error()
    #expect(error?.session == 1)
    #expect(error?.code == .unknownStore)
    #expect(await server.host.connectionCount == 1)
  }

  @Test("gets no store that is not his, and cannot tell whether it is there")
  func wrongPath() async throws {
    let (server, _, ann) = try await withAnn()
    try await server.host.stores.makeStore(try #require(StorePath("/bob/tasks")))
    for path in ["/bob/tasks", "/bob/nothing", "/shared/shop", "/~/../bob/tasks", "no path"] {
      let connection = try await Connection(server.host, token: ann.accessToken, path: path)
      #expect(try await connection.error()?.code == .unknownStore, "\(path)")
    }
    #expect(try await server.host.stores.stores().map(\.text) == ["/bob/tasks"])
  }
}
#endif
