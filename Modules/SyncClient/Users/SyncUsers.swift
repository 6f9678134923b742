import Foundation
import StorageCoordination
import SyncProtocol

/// The users of an app on this device, with accounts on one server: they log in once, and are still logged in when the app starts again.
///
/// ```swift
/// let users = SyncUsers(file: folder.appending(path: "users"), server: connector)
/// let ann = try await users.logIn("ann", password: password)
/// let replicator = store.replicator(path: "/~/tasks", connector: connector, credentials: ann)
/// ```
///
/// Several users may be logged in at once; each has stores of his own. Passwords are never stored; tokens are, in a file that only this
/// user of the system may read. **Threads.** Any task may call; several processes may use one file.
public actor SyncUsers {
  nonisolated let file: KeptUsers
  nonisolated let server: any WebRequester
  private var known: [String: SyncUser] = [:]

  /// Creates the users of a file, which is made when somebody logs in.
  public init(file: URL, server: any WebRequester) {
    self.file = KeptUsers(path: file.path)
    self.server = server
  }

  // MARK: logging in

  /// Logs a user in and makes him the current one. Throws `SyncError` if the server refuses (a wrong name or password: `.tokenInvalid`;
  /// too many attempts: `.overloaded`), `TransportError` if it cannot be reached, and errors of writing the file.
  ///
  /// - Parameter device: a name for lists of log-ins.
  public func logIn(_ name: String, password: String, device: String = "") async throws -> SyncUser {
    try await begin("login", name, password, device)
  }

  /// Creates a user and logs him in, if the server lets anybody register (otherwise `.readDenied`).
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
    let user = user(tokens.user, in: contents)
    await user.know(tokens.kept)
    return user
  }

  // MARK: logged-in users

  /// The logged-in users, by name.
  public var all: [SyncUser] {
    get throws {
      let contents = try file.read()
      return contents.users.keys.sorted().map { user($0, in: contents) }
    }
  }

  /// The user who logged in last, or was made the current one; nil if nobody is logged in.
  public var current: SyncUser? {
    get throws {
      let contents = try file.read()
      return contents.current.flatMap { contents.users[$0] == nil ? nil : user($0, in: contents) }
    }
  }

  /// Makes a logged-in user the current one.
  public func makeCurrent(_ user: SyncUser) async throws {
    let turn = try await file.turn()
    defer { withExtendedLifetime(turn) {} }
    var contents = try file.read()
    guard contents.users[user.name] != nil else { throw SyncError(.tokenInvalid, "'\(user.name)' is not logged in.") }
    contents.current = user.name
    try file.write(contents)
  }

  /// One object per name, so that each renews its tokens alone.
  private func user(_ name: String, in contents: KeptUsers.Contents) -> SyncUser {
    if let user = known[name] { return user }
    let user = SyncUser(name, file, server, contents.users[name])
    known[name] = user
    return user
  }
}
