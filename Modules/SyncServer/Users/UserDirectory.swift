import SyncProtocol

/// Where a server keeps its users, their log-ins, and who may do what at which path.
///
/// Every call is one transaction, durable when it returns. Several processes may use one directory: none relies on what it has read before
/// where two could decide the same thing (`rotate`). **Threads.** Any task may call. **Errors.** `.unavailable` for whatever the place of
/// the data causes.
public protocol UserDirectory: Sendable {
  /// A number that is another one after every change that anybody made to users or grants, and after every end of a log-in.
  func revision() async throws(ServerStoreError) -> UInt64

  /// All users, by name.
  func users() async throws(ServerStoreError) -> [UserRecord]

  /// One user; nil where there is none of that name.
  func user(_ name: String) async throws(ServerStoreError) -> UserRecord?

  /// The user who has a token that does not end; nil for nobody's.
  func user(withTokenHash hash: String) async throws(ServerStoreError) -> UserRecord?

  /// Changes a user, or makes him: `change` is given what there is, and says what is to be; nil removes the user with his log-ins and
  /// grants, and another password ends his log-ins. Returns what there is then. `change` may be called again where another process was
  /// quicker.
  @discardableResult
  func update(
    _ name: String, _ change: @Sendable @escaping (UserRecord?) -> UserRecord?
  ) async throws(ServerStoreError) -> UserRecord?

  /// The log-ins, of one user or of all.
  func logins(of user: String?) async throws(ServerStoreError) -> [LoginRecord]

  /// One log-in; nil where there is none of that number.
  func login(_ id: String) async throws(ServerStoreError) -> LoginRecord?

  /// Keeps a new log-in. Those whose time is over may go, and of more than a hundred of one user the oldest.
  ///
  /// - Parameter time: milliseconds since 1970.
  func add(_ login: LoginRecord, at time: Int64) async throws(ServerStoreError)

  /// Gives a log-in its next refresh token, if `hash` is that of the present one; false where it is not any more.
  func rotate(_ id: String, from hash: String, to newHash: String, expires: Int64) async throws(ServerStoreError) -> Bool

  /// Ends a log-in.
  func removeLogin(_ id: String) async throws(ServerStoreError)

  /// Ends all log-ins of a user.
  func removeLogins(of user: String) async throws(ServerStoreError)

  /// All rights that were given.
  func grants() async throws(ServerStoreError) -> [GrantRecord]

  /// Gives a right in place of the one that the same user has at the same path; an empty one takes it away.
  func put(_ grant: GrantRecord) async throws(ServerStoreError)
}

extension UserDirectory {
  /// What a user may do in a store: everything below his own name, and everywhere as an administrator; elsewhere what was given to him, to
  /// everybody, or by his token.
  public func grant(to identity: SyncIdentity, on path: StorePath) async throws(ServerStoreError) -> StoreGrant {
    if identity.isAdministrator || path.text.hasPrefix("/\(identity.user)/") { return .all }
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
