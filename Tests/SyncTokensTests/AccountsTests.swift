#if Sync
import Foundation
import SyncProtocol
import SyncServer
import SyncTokens
import Testing

/// Users in memory, one of whom changes after somebody has read what he was.
private actor OvertakenDirectory: ContentsDirectory {
  private let users = MemoryUserDirectory()
  private var next: UserRecord?

  func replace(afterNextRead user: UserRecord) { next = user }

  func contents() async throws(ServerStoreError) -> DirectoryContents {
    let found = await users.contents()
    if let user = next {
      next = nil
      try await users.update(user.name) { _ in user }
    }
    return found
  }

  func change<R: Sendable>(_ body: @Sendable (inout DirectoryContents) -> R) async throws(ServerStoreError) -> R {
    await users.change(body)
  }
}

@Suite("An account")
struct AccountsTests {
  @Test("is had by its password, whose tokens are the user's until they end")
  func logIn() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    let tokens = try await server.accounts.logIn("ann", password: "correct horse", device: "phone", from: "1.1.1.1")
    let identity = try await server.identity(tokens.accessToken)
    #expect(identity.user == "ann")
    #expect(!identity.isAdministrator)
    #expect(identity.expires == server.now / 1000 * 1000 + 900_000)
    #expect(tokens.expiresIn == 900)
    #expect(try await server.directory.logins(of: "ann").map(\.device) == ["phone"])
    server.pass(seconds: 901)
    #expect(await code { _ = try await server.identity(tokens.accessToken) } == .tokenExpired)
  }

  @Test("is not had by another password, by another name, by none")
  func wrong() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    try await server.add("bot")
    for (name, password) in [("ann", "correct horsf"), ("ann", ""), ("nobody", "correct horse"), ("bot", "")] {
      let found = await code { _ = try await server.accounts.logIn(name, password: password, from: name) }
      #expect(found == .tokenInvalid, "\(name)")
    }
    #expect(await server.accounts.failures == 4)
    #expect(try await server.directory.logins(of: nil).isEmpty)
  }

  @Test("is not had by a password that is changed while it is compared")
  func overtaken() async throws {
    let cost = PasswordHash.Cost(logarithm: 10)
    let old = try PasswordHash.make(of: "correct horse", cost: cost)
    let new = try PasswordHash.make(of: "battery staple", cost: cost)
    let directory = OvertakenDirectory()
    try await directory.update("ann") { _ in UserRecord(name: "ann", passwordHash: old) }
    let accounts = Accounts(directory, try TokenIssuer(key: TokenIssuer.newKey()), stores: MemoryServerStore())
    await directory.replace(afterNextRead: UserRecord(name: "ann", passwordHash: new))
    #expect(await code { _ = try await accounts.logIn("ann", password: "correct horse", from: "1") } == .tokenInvalid)
    #expect(await accounts.failures == 1)
    #expect(try await directory.logins(of: nil).isEmpty)
    _ = try await accounts.logIn("ann", password: "battery staple", from: "1")
    #expect(try await directory.logins(of: nil).map(\.user) == ["ann"])
  }

  @Test("is tried five times a minute, by name and by address, and who gets it right is not counted")
  func tries() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    for _ in 0..<8 { _ = try await server.accounts.logIn("ann", password: "correct horse", from: "1.1.1.1") }
    for number in 0..<5 {
      #expect(await code { _ = try await server.accounts.logIn("ann", password: "wrong", from: "2.2.2.\(number)") } == .tokenInvalid)
    }
    // By name, whoever it is; others are not held up.
    do throws(SyncRefusal) {
      _ = try await server.accounts.logIn("ann", password: "correct horse", from: "3.3.3.3")
      Issue.record("It was let in.")
    } catch {
      #expect(error.code == .overloaded)
      #expect((1...60).contains(error.retryAfterSeconds))
    }
    try await server.add("bob", password: "battery staple")
    _ = try await server.accounts.logIn("bob", password: "battery staple", from: "3.3.3.3")
    // By address.
    for number in 0..<5 {
      #expect(await code { _ = try await server.accounts.logIn("user\(number)", password: "wrong", from: "4.4.4.4") } == .tokenInvalid)
    }
    #expect(await code { _ = try await server.accounts.logIn("bob", password: "battery staple", from: "4.4.4.4") } == .overloaded)
    server.pass(seconds: 61)
    _ = try await server.accounts.logIn("ann", password: "correct horse", from: "4.4.4.4")
  }

  @Test("lives on by refresh tokens; one whose successor was used ends the log-in for everybody")
  func refresh() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    let first = try await server.accounts.logIn("ann", password: "correct horse", from: "1.1.1.1")
    server.pass(seconds: 59 * 86_400)
    let second = try await server.accounts.refresh(first.refreshToken)
    server.pass(seconds: 59 * 86_400)
    let third = try await server.accounts.refresh(second.refreshToken)
    #expect(try await server.identity(third.accessToken).user == "ann")
    // Somebody else has the first one.
    #expect(await code { _ = try await server.accounts.refresh(first.refreshToken) } == .tokenInvalid)
    #expect(await code { _ = try await server.accounts.refresh(third.refreshToken) } == .tokenInvalid)
    #expect(await code { _ = try await server.identity(third.accessToken) } == .tokenInvalid)
  }

  @Test("lives on if the answer to a refresh is lost, however often, and knows a theft still")
  func lostAnswer() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    let first = try await server.accounts.logIn("ann", password: "correct horse", from: "1.1.1.1")
    let lost = try await server.accounts.refresh(first.refreshToken)
    _ = try await server.accounts.refresh(first.refreshToken)
    let second = try await server.accounts.refresh(first.refreshToken)
    #expect(try await server.identity(second.accessToken).user == "ann")
    let third = try await server.accounts.refresh(second.refreshToken)
    #expect(await server.accounts.failures == 0)
    // A device whose answer was lost can also log out with what it has.
    let other = try await server.accounts.logIn("ann", password: "correct horse", from: "1.1.1.1")
    _ = try await server.accounts.refresh(other.refreshToken)
    try await server.accounts.logOut(other.refreshToken)
    #expect(try await server.directory.logins(of: "ann").count == 1)
    // Whoever has what was lost, took it.
    #expect(await code { _ = try await server.accounts.refresh(lost.refreshToken) } == .tokenInvalid)
    #expect(await code { _ = try await server.accounts.refresh(third.refreshToken) } == .tokenInvalid)
  }

  @Test("that an older server has kept is read")
  func older() throws {
    let text = #"{"id": "l", "user": "ann", "refreshHash": "a", "expires": 10, "device": ""}"#
    let login = try JSONDecoder().decode(LoginRecord.self, from: Data(text.utf8))
    #expect(login == LoginRecord(id: "l", user: "ann", refreshHash: "a", expires: 10))
    #expect(login.accepts("a"))
    #expect(!login.accepts("b"))
  }

  @Test("ends when nobody refreshes it, when it is logged out, and for what is no token")
  func ends() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    let old = try await server.accounts.logIn("ann", password: "correct horse", from: "1.1.1.1")
    server.pass(seconds: 61 * 86_400)
    #expect(await code { _ = try await server.accounts.refresh(old.refreshToken) } == .tokenInvalid)
    let tokens = try await server.accounts.logIn("ann", password: "correct horse", from: "1.1.1.1")
    try await server.accounts.logOut(tokens.refreshToken)
    try await server.accounts.logOut(tokens.refreshToken)
    #expect(await code { _ = try await server.accounts.refresh(tokens.refreshToken) } == .tokenInvalid)
    #expect(await code { _ = try await server.identity(tokens.accessToken) } == .tokenInvalid)
    for text in ["", ".", "a.b", "a", "a.b.c", String(repeating: "a", count: 10_000)] {
      #expect(await code { _ = try await server.accounts.refresh(text) } == .tokenInvalid)
    }
  }

  @Test("is made by anybody only where that is allowed, and takes nobody's place")
  func registration() async throws {
    let closed = try await TestServer()
    #expect(await code { _ = try await closed.accounts.register("ann", password: "correct horse", from: "1") } == .readDenied)
    #expect(try await closed.directory.users().isEmpty)
    let open = try await TestServer(registration: true)
    try await open.add("root", password: "something long", isAdministrator: true)
    #expect(try await open.identity(open.accounts.register("ann", password: "correct horse", from: "1").accessToken).user == "ann")
    for name in ["ann", "root", "a/b", "shared", "c"] {
      let password = name == "c" ? "short" : "another one"
      #expect(await code { _ = try await open.accounts.register(name, password: password, from: name) } != nil, "\(name)")
    }
    #expect(try await open.directory.users().map(\.name) == ["ann", "root"])
    #expect(try await open.directory.user("root")?.isAdministrator == true)
  }

  @Test("is not made by a stranger for the stores of a user who was removed, and is by an administrator")
  func formerUsers() async throws {
    let server = try await TestServer(registration: true)
    func register(_ name: String) async -> SyncErrorCode? {
      await code { _ = try await server.accounts.register(name, password: "correct horse", from: name) }
    }
    #expect(await register("ann") == nil)
    #expect(await register("bob") == nil)
    let path = try #require(StorePath("/ann/tasks"))
    try await server.host.stores.makeStore(path)
    for name in ["ann", "bob"] { try await server.directory.update(name) { _ in nil } }
    #expect(await register("ann") == .readDenied)
    #expect(try await server.directory.users().isEmpty)
    // Of these there are no stores.
    for name in ["bob", "an", "tasks"] { #expect(await register(name) == nil, "\(name)") }
    #expect(await code { _ = try await server.accounts.logIn("ann", password: "correct horse", from: "1") } == .tokenInvalid)
    // An administrator says who it is.
    try await server.add("root", password: "something long", isAdministrator: true)
    let administrator = try await server.accounts.logIn("root", password: "something long", from: "2").accessToken
    let added = await server.ask("POST", "/admin/v1/users", ["name": "ann", "password": "another one"], token: administrator)
    #expect(added.status == 201)
    let tokens = try await server.accounts.logIn("ann", password: "another one", from: "1")
    let identity = try await server.identity(tokens.accessToken)
    #expect(try await server.access.grant(to: identity, on: path).rights.contains(.read))
    // Once they are removed, the name is anybody's.
    try await server.directory.update("ann") { _ in nil }
    try await server.host.stores.removeStore(path)
    #expect(await register("ann") == nil)
  }

  @Test("keeps no password and no token as it is")
  func kept() async throws {
    let server = try await TestServer()
    try await server.add("ann", password: "correct horse")
    let tokens = try await server.accounts.logIn("ann", password: "correct horse", from: "1.1.1.1")
    let all = "\(await server.directory.contents())"
    let secret = tokens.refreshToken.split(separator: ".").last.map(String.init) ?? ""
    #expect(secret.count == 64)
    for text in ["correct horse", secret, tokens.accessToken] { #expect(!all.contains(text)) }
  }
}
#endif
