import Foundation
import SyncClient
import SyncProtocol
import Synchronization
import Testing
import VivariumTestSupport

/// A server of accounts that does what it is told, and counts.
private final class AccountServer: WebRequester {
  enum Mood: Sendable {
    case fine
    case away
    case refusing(SyncErrorCode, status: Int)
  }

  private struct State {
    var mood = Mood.fine
    var tokens = 0
    var asked: [String] = []
    /// Refresh tokens that are good, by user.
    var good: [String: String] = [:]
  }

  private let state = Mutex(State())
  private let seconds: Int64

  init(seconds: Int64 = 900) { self.seconds = seconds }

  var asked: [String] { state.withLock { $0.asked } }
  func become(_ mood: Mood) { state.withLock { $0.mood = mood } }

  private struct Sent: Decodable {
    let user: String?
    let refreshToken: String?
  }

  func answer(to request: WebRequest) async throws(TransportError) -> WebAnswer {
    let sent = try? JSONDecoder().decode(Sent.self, from: Data(request.body))
    let answer: WebAnswer? = state.withLock { state in
      state.asked.append(request.path)
      switch state.mood {
      case .away: return nil
      case .refusing(let code, let status): return problem(code, status)
      case .fine: break
      }
      let user = sent?.user ?? state.good.first { $0.value == sent?.refreshToken }?.key
      guard let user else { return problem(.tokenInvalid, 401) }
      if request.path.hasSuffix("logout") {
        state.good[user] = nil
        return WebAnswer(status: 204)
      }
      state.tokens += 1
      state.good[user] = "\(user).refresh\(state.tokens)"
      let (access, refresh) = ("\(user)\(state.tokens)", "\(user).refresh\(state.tokens)")
      return WebAnswer(
        "{\"user\":\"\(user)\",\"accessToken\":\"\(access)\",\"expiresIn\":\(seconds),\"refreshToken\":\"\(refresh)\"}")
    }
    guard let answer else { throw TransportError(.unreachable, "It is away.") }
    return answer
  }

  private func problem(_ code: SyncErrorCode, _ status: Int) -> WebAnswer {
    WebAnswer(status: status, "{\"code\":\(code.rawValue),\"message\":\"\",\"text\":\"No.\",\"remedy\":\"\"}")
  }
}

@Suite("The users of a device")
struct SyncUsersTests {
  private let directory = TemporaryDirectory()
  private var file: URL { directory.file("users") }

  @Test("log in once, are known again, and several at a time")
  func several() async throws {
    let server = AccountServer()
    let users = SyncUsers(file: file, server: server)
    #expect(try await users.all.isEmpty)
    #expect(try await users.current == nil)
    let ann = try await users.logIn("ann", password: "x")
    let bob = try await users.logIn("bob", password: "x")
    #expect(await ann.token(isNew: false) == "ann1")
    #expect(await bob.token(isNew: false) == "bob2")
    try await users.makeCurrent(ann)
    let later = SyncUsers(file: file, server: server)
    #expect(try await later.all.map(\.name) == ["ann", "bob"])
    #expect(try await later.current?.name == "ann")
    try await ann.logOut()
    #expect(try await later.all.map(\.name) == ["bob"])
    #expect(try await later.current?.name == "bob")
    #expect(await ann.token(isNew: false) == nil)
    await #expect(throws: SyncError.self) { try await users.makeCurrent(ann) }
    #expect(server.asked == ["/auth/v1/login", "/auth/v1/login", "/auth/v1/logout"])
    let found = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect((found[.posixPermissions] as? NSNumber)?.intValue == 0o600)
  }

  @Test("get a new token when the old one ends or was refused, one for all who ask at once")
  func refresh() async throws {
    let server = AccountServer()
    let ann = try await SyncUsers(file: file, server: server).logIn("ann", password: "x")
    #expect(await ann.token(isNew: true) == "ann2")
    #expect(await ann.token(isNew: false) == "ann2")
    // Ends within a minute.
    let brief = AccountServer(seconds: 30)
    let users = SyncUsers(file: directory.file("brief"), server: brief)
    let bob = try await users.logIn("bob", password: "x")
    #expect(await bob.token(isNew: false) == "bob2")
    // Another process has the same file: whoever comes second takes what the first has got.
    let here = try #require(try await users.current)
    let there = try #require(try await SyncUsers(file: directory.file("brief"), server: brief).current)
    let tokens = await withTaskGroup(of: String?.self) { group in
      for number in 0..<20 { group.addTask { await (number % 2 == 0 ? here : there).token(isNew: true) } }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    #expect(tokens.allSatisfy { $0 != nil })
    #expect(await bob.isLoggedIn)
  }

  @Test("keep their token while the server is away, and are logged out only when it says so")
  func away() async throws {
    let server = AccountServer()
    let ann = try await SyncUsers(file: file, server: server).logIn("ann", password: "x")
    server.become(.away)
    #expect(await ann.token(isNew: true) == "ann1")
    server.become(.refusing(.storageUnavailable, status: 503))
    #expect(await ann.token(isNew: true) == "ann1")
    server.become(.refusing(.userSuspended, status: 403))
    #expect(await ann.token(isNew: true) == nil)
    #expect(await ann.isLoggedIn)
    server.become(.fine)
    #expect(await ann.token(isNew: true) == "ann2")
    server.become(.refusing(.tokenInvalid, status: 401))
    #expect(await ann.token(isNew: true) == nil)
    #expect(await ann.isLoggedIn == false)
    server.become(.fine)
    #expect(await ann.token(isNew: true) == nil)
  }

  @Test("keep their token while their file cannot be read, and are not logged out by that")
  func unreadable() async throws {
    let server = AccountServer()
    let ann = try await SyncUsers(file: file, server: server).logIn("ann", password: "x")
    // As after a start of the app.
    let later = try #require(try await SyncUsers(file: file, server: server).current)
    let whole = try Data(contentsOf: file)
    try Data("{".utf8).write(to: file)
    for user in [ann, later] {
      #expect(await user.token(isNew: false) == "ann1")
      #expect(await user.token(isNew: true) == "ann1")
      #expect(await user.isLoggedIn)
    }
    try whole.write(to: file)
    #expect(await ann.token(isNew: true) == "ann2")
  }

  @Test("log out also where the server cannot be reached")
  func logOutAway() async throws {
    let server = AccountServer()
    let ann = try await SyncUsers(file: file, server: server).logIn("ann", password: "x")
    server.become(.away)
    try await ann.logOut()
    #expect(await ann.isLoggedIn == false)
    try await ann.logOut()
  }

  @Test("are told why they cannot log in")
  func refused() async throws {
    let server = AccountServer()
    let users = SyncUsers(file: file, server: server)
    for (code, status) in [(SyncErrorCode.tokenInvalid, 401), (.overloaded, 429), (.userSuspended, 403)] {
      server.become(.refusing(code, status: status))
      await #expect { _ = try await users.logIn("ann", password: "x") } throws: {
        ($0 as? SyncError)?.code == code && ($0 as? SyncError)?.text == "No."
      }
    }
    server.become(.away)
    await #expect { _ = try await users.logIn("ann", password: "x") } throws: { ($0 as? TransportError)?.code == .unreachable }
    #expect(try await users.all.isEmpty)
    try Data("nonsense".utf8).write(to: file)
    await #expect(throws: (any Error).self) { _ = try await users.all }
  }
}
