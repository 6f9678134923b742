/// The contents of a user directory as one value, for directories in memory or in a file.
public struct DirectoryContents: Hashable, Sendable, Codable {
  /// Counts the changes of users and grants, and the ended log-ins.
  public private(set) var revision: UInt64 = 0
  /// The users by name.
  public private(set) var users: [String: UserRecord] = [:]
  /// The log-ins by id.
  public private(set) var logins: [String: LoginRecord] = [:]
  /// The maximal number of log-ins of one user.
  static let loginsOfUser = 100
  /// The grants, ordered by path and user.
  public private(set) var grants: [GrantRecord] = []

  /// Creates an empty directory.
  public init() {}

  mutating func update(_ name: String, _ change: (UserRecord?) -> UserRecord?) -> UserRecord? {
    let next = change(users[name])
    guard next != users[name] else { return next }
    revision += 1
    // A new password ends all log-ins made with the old one.
    if next?.passwordHash != users[name]?.passwordHash { logins = logins.filter { $0.value.user != name } }
    users[name] = next
    if next == nil {
      logins = logins.filter { $0.value.user != name }
      grants.removeAll { $0.user == name }
    }
    return next
  }

  mutating func add(_ user: UserRecord) -> Bool {
    guard users[user.name] == nil else { return false }
    revision += 1
    users[user.name] = user
    return true
  }

  mutating func add(_ login: LoginRecord, ifPassword hash: String?, at time: Int64) -> Bool {
    guard let user = users[login.user], user.passwordHash == hash else { return false }
    logins = logins.filter { $0.value.expires > time }
    // Repeated log-ins must not fill the disk: the oldest are removed.
    let others = logins.values.filter { $0.user == login.user }.sorted { ($0.expires, $0.id) < ($1.expires, $1.id) }
    for old in others.prefix(max(0, others.count + 1 - DirectoryContents.loginsOfUser)) { logins[old.id] = nil }
    logins[login.id] = login
    return true
  }

  mutating func rotate(_ id: String, from hash: String, to newHash: String, expires: Int64) -> Bool {
    // A repetition of a call whose answer was lost.
    if logins[id]?.refreshHash == newHash { return true }
    guard let login = logins[id], login.accepts(hash) else { return false }
    logins[id]?.refreshHash = newHash
    logins[id]?.previousHash = hash
    logins[id]?.expires = expires
    return true
  }

  mutating func removeLogin(_ id: String) { if logins.removeValue(forKey: id) != nil { revision += 1 } }

  mutating func removeLogins(of user: String) {
    let left = logins.filter { $0.value.user != user }
    guard left.count != logins.count else { return }
    revision += 1
    logins = left
  }

  mutating func put(_ grant: GrantRecord) {
    revision += 1
    grants.removeAll { $0.user == grant.user && $0.path == grant.path }
    if !grant.isEmpty { grants.append(grant) }
    grants.sort { ($0.path, $0.user) < ($1.path, $1.user) }
  }

  mutating func changeGrant(of user: String, at path: String, _ change: (inout GrantRecord) -> Void) -> GrantRecord {
    let before = grants.first { $0.user == user && $0.path == path } ?? GrantRecord(user: user, path: path, mayRead: false)
    var grant = before
    change(&grant)
    (grant.user, grant.path) = (user, path)
    if grant != before { put(grant) }
    return grant
  }
}

/// A user directory that stores its `DirectoryContents` as a whole.
public protocol ContentsDirectory: UserDirectory {
  /// The present contents.
  func contents() async throws(ServerStoreError) -> DirectoryContents

  /// Changes the contents, exclusively and durably; stores nothing if `body` changes nothing.
  func change<R: Sendable>(_ body: @Sendable (inout DirectoryContents) -> R) async throws(ServerStoreError) -> R
}

extension ContentsDirectory {
  /// The number of changes.
  public func revision() async throws(ServerStoreError) -> UInt64 { try await contents().revision }
  /// The users by name.
  public func users() async throws(ServerStoreError) -> [UserRecord] {
    try await contents().users.values.sorted { $0.name < $1.name }
  }
  /// O(1) once the contents are read.
  public func user(_ name: String) async throws(ServerStoreError) -> UserRecord? { try await contents().users[name] }
  /// O(users).
  public func user(withTokenHash hash: String) async throws(ServerStoreError) -> UserRecord? {
    try await contents().users.values.first { $0.tokenHashes.contains(hash) }
  }
  /// Exclusive and durable.
  @discardableResult
  public func update(
    _ name: String, _ change: @Sendable @escaping (UserRecord?) -> UserRecord?
  ) async throws(ServerStoreError) -> UserRecord? {
    try await self.change { $0.update(name, change) }
  }
  /// Looks and adds exclusively.
  public func add(_ user: UserRecord) async throws(ServerStoreError) -> Bool { try await change { $0.add(user) } }
  /// The log-ins, ordered by id.
  public func logins(of user: String?) async throws(ServerStoreError) -> [LoginRecord] {
    try await contents().logins.values.filter { user == nil || $0.user == user }.sorted { $0.id < $1.id }
  }
  /// O(1) once the contents are read.
  public func login(_ id: String) async throws(ServerStoreError) -> LoginRecord? { try await contents().logins[id] }
  /// Also removes expired log-ins.
  public func add(_ login: LoginRecord, ifPassword hash: String?, at time: Int64) async throws(ServerStoreError) -> Bool {
    try await change { $0.add(login, ifPassword: hash, at: time) }
  }
  /// Compares and changes atomically.
  public func rotate(_ id: String, from hash: String, to newHash: String, expires: Int64) async throws(ServerStoreError) -> Bool {
    try await change { $0.rotate(id, from: hash, to: newHash, expires: expires) }
  }
  /// No effect if it does not exist.
  public func removeLogin(_ id: String) async throws(ServerStoreError) { try await change { $0.removeLogin(id) } }
  /// Removes the log-ins of one user.
  public func removeLogins(of user: String) async throws(ServerStoreError) { try await change { $0.removeLogins(of: user) } }
  /// The grants, ordered by path and user.
  public func grants() async throws(ServerStoreError) -> [GrantRecord] { try await contents().grants }
  /// Replaces the grant with the same user and path.
  public func put(_ grant: GrantRecord) async throws(ServerStoreError) { try await change { $0.put(grant) } }
  /// Exclusive and durable.
  @discardableResult
  public func changeGrant(
    of user: String, at path: String, _ change: @Sendable @escaping (inout GrantRecord) -> Void
  ) async throws(ServerStoreError) -> GrantRecord {
    try await self.change { $0.changeGrant(of: user, at: path, change) }
  }
}

/// Users in memory: for tests, and for a server within an app.
public actor MemoryUserDirectory: ContentsDirectory {
  private var all = DirectoryContents()

  /// Creates an empty directory.
  public init() {}

  public func contents() -> DirectoryContents { all }
  public func change<R: Sendable>(_ body: @Sendable (inout DirectoryContents) -> R) -> R { body(&all) }
}
