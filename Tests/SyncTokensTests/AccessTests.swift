#if Sync
import Foundation
import SyncProtocol
import SyncServer
import SyncTokens
import Testing

@Suite("Access by a directory of users")
struct AccessTests {
  private func grant(_ server: TestServer, _ user: String, _ path: String, isAdministrator: Bool = false) async throws -> String {
    let identity = SyncIdentity(user: user, isAdministrator: isAdministrator)
    let grant = try await server.access.grant(to: identity, on: try #require(StorePath(path)))
    return grant.rights.short + (grant.mayCreate ? "+" : "")
  }

  @Test("gives everybody his own stores, an administrator all, and others what was given to them or to everybody")
  func grants() async throws {
    let server = try await TestServer()
    for (user, path, rights) in [("ann", "/shared/shop", "rw"), ("*", "/shared/news", "r"), ("bob", "/shared/teams/*", "rwm")] {
      try await server.directory.put(try #require(GrantRecord(user: user, path: path, rights: rights)))
    }
    #expect(try await grant(server, "ann", "/ann/tasks") == "rwm+")
    #expect(try await grant(server, "ann", "/annie/tasks") == "none")
    #expect(try await grant(server, "ann", "/bob/tasks") == "none")
    #expect(try await grant(server, "ann", "/shared/shop") == "rw")
    #expect(try await grant(server, "bob", "/shared/shop") == "none")
    #expect(try await grant(server, "bob", "/shared/news") == "r")
    #expect(try await grant(server, "bob", "/shared/teams/a") == "rwm+")
    #expect(try await grant(server, "bob", "/shared/teams") == "none")
    #expect(try await grant(server, "root", "/bob/tasks", isAdministrator: true) == "rwm+")
    try await server.directory.put(try #require(GrantRecord(user: "ann", path: "/shared/shop", rights: "none")))
    #expect(try await grant(server, "ann", "/shared/shop") == "none")
  }

  @Test("gives nobody another's management store, whatever was given above it")
  func management() async throws {
    let server = try await TestServer()
    for user in ["bob", "*"] { try await server.directory.put(try #require(GrantRecord(user: user, path: "/ann/*", rights: "rwm"))) }
    #expect(try await grant(server, "bob", "/ann/tasks") == "rwm+")
    #expect(try await grant(server, "bob", "/ann/__management") == "none")
    #expect(try await grant(server, "ann", "/ann/__management") == "rwm+")
  }

  @Test("takes rights in the short form alone")
  func forms() {
    for (user, path, rights) in [
      ("ann", "shared", "r"), ("ann", "/shared/**", "r"), ("a/b", "/shared", "r"), ("ann", "/shared", "x"), ("ann", "/shared", ""),
      ("ann", "/", "r"), ("ann", "*", "r"), ("shared", "/shared", "r"),
    ] { #expect(GrantRecord(user: user, path: path, rights: rights) == nil, "\(user) \(path) \(rights)") }
  }

  @Test("refuses tokens of others, changed ones, and what is none")
  func tokens() async throws {
    let (server, other) = (try await TestServer(), try await TestServer())
    try await server.add("ann", password: "correct horse")
    try await other.add("ann", password: "correct horse")
    let own = try await server.accounts.logIn("ann", password: "correct horse", from: "1").accessToken
    let foreign = try await other.accounts.logIn("ann", password: "correct horse", from: "1").accessToken
    #expect(await code { _ = try await server.identity(foreign) } == .tokenInvalid)
    var parts = own.split(separator: ".").map(String.init)
    let claims = try #require(Data(base64Encoded: padded(parts[1])))
    let changed = String(decoding: claims, as: UTF8.self).replacing("\"sub\":\"ann\"", with: "\"sub\":\"bob\"")
    parts[1] = encoded(changed)
    #expect(await code { _ = try await server.identity(parts.joined(separator: ".")) } == .tokenInvalid)
    // Signed by nobody.
    let unsigned = encoded("{\"alg\":\"none\",\"typ\":\"JWT\"}") + "." + own.split(separator: ".")[1] + "."
    for text in [unsigned, "", ".", "..", "a.b.c", String(repeating: "a.", count: 50_000), String(repeating: "f", count: 64)] {
      #expect(await code { _ = try await server.identity(text) } == .tokenInvalid, "\(text.prefix(40))")
    }
    #expect(try await server.identity(own).user == "ann")
  }

  @Test("refuses claims that no issuer makes, without harm", arguments: [
    "{}", "[]", "{\"iss\":\"vivarium\",\"sub\":\"ann\",\"aud\":[],\"exp\":1e300}",
    "{\"iss\":\"vivarium\",\"sub\":\"../x\",\"aud\":\"vivarium\",\"exp\":9e9}",
    "{\"iss\":\"vivarium\",\"sub\":\"ann\",\"aud\":5,\"exp\":-1e300}",
    "{\"iss\":\"\",\"sub\":\"\",\"aud\":\"\",\"exp\":null}",
  ])
  func claims(text: String) async throws {
    let server = try await TestServer()
    let token = encoded("{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}") + "." + encoded(text) + "." + encoded(String(repeating: "x", count: 64))
    #expect(await code { _ = try await server.identity(token) } == .tokenInvalid)
  }

  @Test("lets a token in that does not end, until the user is suspended or gets another one")
  func standing() async throws {
    let server = try await TestServer()
    let (first, second) = (StandingToken.make(), StandingToken.make())
    try await server.directory.update("bot") { _ in UserRecord(name: "bot", tokenHashes: [first.hash]) }
    server.pass(seconds: 10 * 365 * 86_400)
    let identity = try await server.identity(first.token)
    #expect(identity.user == "bot")
    #expect(identity.expires == nil)
    #expect(try await server.access.refusal(of: identity) == nil)
    try await server.directory.update("bot") { _ in UserRecord(name: "bot", tokenHashes: [second.hash]) }
    #expect(try await server.access.refusal(of: identity)?.code == .tokenInvalid)
    #expect(await code { _ = try await server.identity(first.token) } == .tokenInvalid)
    try await server.directory.update("bot") { _ in UserRecord(name: "bot", tokenHashes: [second.hash], isSuspended: true) }
    #expect(await code { _ = try await server.identity(second.token) } == .userSuspended)
  }

  @Test("trusts other issuers by their keys for what they claim, and makes nobody an administrator by that")
  func outside() async throws {
    let key = try OutsideKey()
    let server = try await TestServer(outside: [TokenVerifier.Outside(name: "https://id.example", keys: try key.keySet)])
    func token(_ changes: [String: Any] = [:]) throws -> String {
      var claims: [String: Any] = [
        "iss": "https://id.example", "sub": "eve", "aud": ["other", "vivarium"], "exp": Double(server.now / 1000 + 600),
        "stores": ["/shared/shop": "rw", "nonsense": "rw"], "adm": true,
      ]
      claims.merge(changes) { $1 }
      return try key.token(claims)
    }
    let identity = try await server.identity(try token())
    #expect(identity.user == "eve")
    #expect(!identity.isAdministrator)
    #expect(identity.claims == ["/shared/shop": [.read, .write]])
    #expect(try await server.access.grant(to: identity, on: try #require(StorePath("/shared/shop"))).rights == [.read, .write])
    for changes in [
      ["iss": "vivarium"], ["iss": "https://other.example"], ["aud": "other"], ["sub": "a/b"], ["sub": "shared"],
      ["nbf": Double(server.now / 1000 + 600)],
    ] as [[String: Any]] {
      let changed = try token(changes)
      #expect(await code { _ = try await server.identity(changed) } == .tokenInvalid, "\(changes)")
    }
    let old = try token(["exp": Double(server.now / 1000 - 3 * 365 * 86_400)])
    do throws(SyncRefusal) { _ = try await server.identity(old) } catch {
      #expect(error.code == .tokenExpired)
      #expect(error.text.contains("clock"))
    }
    try await server.directory.update("eve") { _ in UserRecord(name: "eve", isSuspended: true) }
    let suspended = try token()
    #expect(await code { _ = try await server.identity(suspended) } == .userSuspended)
  }
}
#endif
