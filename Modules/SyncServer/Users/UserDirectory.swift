import SyncProtocol

/// The storage of a server's users, their log-ins, and the grants by path.
///
/// Every call is one transaction, durable when it returns. Several processes may use one directory: where two could take the same
/// decision, none relies on an earlier read (`add`, `rotate`, `changeGrant`). **Threads.** Any task may call. **Errors.** `.unavailable`
/// for all errors of the underlying storage.
public protocol UserDirectory: Sendable {
  /// A number that changes with every change of users or grants, and with every end of a log-in.
  func revision() async throws(ServerStoreError) -> UInt64

  /// All users, by name.
  func users() async throws(ServerStoreError) -> [UserRecord]

  /// One user; nil if the name does not exist.
  func user(_ name: String) async throws(ServerStoreError) -> UserRecord?

  /// The user who has a token that does not expire; nil if nobody has it.
  func user(withTokenHash hash: String) async throws(ServerStoreError) -> UserRecord?

  /// Changes or creates a user. `change` receives the present record and returns the new one; nil removes the user with his log-ins and
  /// grants, and a new password ends his log-ins. Returns the result. `change` may be called again if another process was faster.
  @discardableResult
  func update(
    _ name: String, _ change: @Sendable @escaping (UserRecord?) -> UserRecord?
  ) async throws(ServerStoreError) -> UserRecord?

  /// Adds a user. If there is one of the name it changes nothing, and returns false.
  func add(_ user: UserRecord) async throws(ServerStoreError) -> Bool

  /// The log-ins, of one user or of all.
  func logins(of user: String?) async throws(ServerStoreError) -> [LoginRecord]

  /// One log-in; nil if the id does not exist.
  func login(_ id: String) async throws(ServerStoreError) -> LoginRecord?

  /// Adds a log-in if the user's password is still the one that it was made with; otherwise, and if there is no such user, returns false.
  /// May remove expired log-ins, and the oldest if a user has more than a hundred.
  ///
  /// - Parameters:
  ///   - hash: the user's `passwordHash` when the password was compared.
  ///   - time: milliseconds since 1970.
  func add(_ login: LoginRecord, ifPassword hash: String?, at time: Int64) async throws(ServerStoreError) -> Bool

  /// Sets the next refresh token of a log-in if it accepts `hash` (`LoginRecord.accepts`), and makes `hash` the previous one; otherwise
  /// returns false.
  func rotate(_ id: String, from hash: String, to newHash: String, expires: Int64) async throws(ServerStoreError) -> Bool

  /// Ends a log-in.
  func removeLogin(_ id: String) async throws(ServerStoreError)

  /// Ends all log-ins of a user.
  func removeLogins(of user: String) async throws(ServerStoreError)

  /// All grants.
  func grants() async throws(ServerStoreError) -> [GrantRecord]

  /// Puts a grant in place of that of the same user and path; an empty one removes it.
  func put(_ grant: GrantRecord) async throws(ServerStoreError)

  /// Changes the grant of a user at a path, and returns the result. `change` receives the present grant, or an empty one if there is none;
  /// an empty result removes it. User and path stay. `change` may be called again if another process was faster.
  @discardableResult
  func changeGrant(
    of user: String, at path: String, _ change: @Sendable @escaping (inout GrantRecord) -> Void
  ) async throws(ServerStoreError) -> GrantRecord
}

extension UserDirectory {
  /// The rights of a user on a store: all on stores below his own name, and everywhere for an administrator; elsewhere those granted to
  /// him, to everybody, or by his token. Nothing granted covers a management store: what is there is between its user and the server.
  public func grant(to identity: SyncIdentity, on path: StorePath) async throws(ServerStoreError) -> StoreGrant {
    if identity.isAdministrator || path.text.hasPrefix("/\(identity.user)/") { return .all }
    if path.isOfManagement { return .none }
    var rights: Bound.Rights = []
    for grant in try await grants() where (grant.user == identity.user || grant.user == "*") && grant.covers(path) {
      rights.formUnion(grant.rights)
    }
    for (pattern, claimed) in identity.claims {
      let claim = GrantRecord(user: identity.user, path: pattern, mayRead: true)
      if claim.covers(path) { rights.formUnion(claimed) }
    }
    return StoreGrant(rights, mayCreate: rights.contains(.manage))
  }
}
