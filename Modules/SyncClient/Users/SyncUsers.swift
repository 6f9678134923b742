import Foundation
import StorageCoordination
import SyncProtocol

/// The users of an app on this device, by the accounts of one server: they log in once, and are known again when the app starts.
///
/// ```swift
/// let users = SyncUsers(file: folder.appending(path: "users"), server: connector)
/// let ann = try await users.logIn("ann", password: password)
/// let replicator = store.replicator(path: "/~/tasks", connector: connector, credentials: ann)
/// ```
///
/// Several users may be logged in at once; each has stores of his own. Passwords are never kept, tokens in a file that only this user of
/// the system may read. **Threads.** Any task may call; several processes may use one file.
public actor SyncUsers {
  nonisolated let file: KeptUsers
  nonisolated let server: any WebRequester
  private var known: [String: SyncUser] = [:]

  /// The users of a file, which is made when somebody logs in.
  public init(file: URL, server: any WebRequester) {
    self.file = KeptUsers(path: file.path)
    self.server = server
  }

  // MARK: in

  /// Logs a user in, who is the current one then. Throws `SyncError` for what the server refuses (a wrong name or password:
  /// `.tokenInvalid`; too many tries: `.overloaded`), `TransportError` where there is no way to it, and what writing the file throws.
  ///
  /// - Parameter device: a name for lists of log-ins.
  public func logIn(_ name: String, password: String, device: String = "") async throws -> SyncUser {
    try await begin("login", name, password, device)
  }

  /// Makes a new user and logs him in, where the server lets anybody do that (else `.readDenied`).
  public func register(_ name: String, password: String, device: String = "") async throws -> SyncUser {
    try await begin("register", name, password, device)
  }

  private struct Credentials: Encodable {
    let user: String
    let password: String
    let device: String
  }

  private func begin(_ route: String, _ name: String, _ password: String, _ device: String) async throws -> SyncUser {
    let tokens = try await LogInAnswer.asked(
      server, route, Credentials(user: name, password: password, device: device))
    let turn = try await file.turn()
    defer { withExtendedLifetime(turn) {} }
    var contents = try file.read()
    contents.users[tokens.user] = tokens.kept
    contents.current = tokens.user
    try file.write(contents)
    return user(tokens.user)
  }

  // MARK: who is here

  /// Those who are logged in, by name.
  public var all: [SyncUser] {
    get throws { try file.read().users.keys.sorted().map { user($0) } }
  }

  /// Who logged in last, or was made the current one; nil where nobody is logged in.
  public var current: SyncUser? {
    get throws {
      let contents = try file.read()
      return contents.current.flatMap { contents.users[$0] == nil ? nil : user($0) }
    }
  }

  /// Makes one of those who are logged in the current one.
  public func makeCurrent(_ user: SyncUser) async throws {
    let turn = try await file.turn()
    defer { withExtendedLifetime(turn) {} }
    var contents = try file.read()
    guard contents.users[user.name] != nil else { throw SyncError(.tokenInvalid, "'\(user.name)' is not logged in.") }
    contents.current = user.name
    try file.write(contents)
  }

  /// One for each name, so that each refreshes his tokens alone.
  private func user(_ name: String) -> SyncUser {
    if let user = known[name] { return user }
    let user = SyncUser(name, file, server)
    known[name] = user
    return user
  }
}
