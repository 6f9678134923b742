/// All that a directory of users holds, as one value: what one in memory or in a file is made of.
public struct DirectoryContents: Hashable, Sendable, Codable {
  /// Counts the changes of users and grants, and log-ins that were ended.
  public private(set) var revision: UInt64 = 0
  /// By name.
  public private(set) var users: [String: UserRecord] = [:]
  /// By number.
  public private(set) var logins: [String: LoginRecord] = [:]
  /// Log-ins that a user has at one time.
  static let loginsOfUser = 100
  /// In order of path and user.
  public private(set) var grants: [GrantRecord] = []

  /// Nobody.
  public init() {}

  mutating func update(_ name: String, _ change: (UserRecord?) -> UserRecord?) -> UserRecord? {
    let next = change(users[name])
    guard next != users[name] else { return next }
    revision += 1
    // Who knew the old password is out with it.
    if next?.passwordHash != users[name]?.passwordHash { logins = logins.filter { $0.value.user != name } }
    users[name] = next
    if next == nil {
      logins = logins.filter { $0.value.user != name }
      grants.removeAll { $0.user == name }
    }
    return next
  }

  mutating func add(_ login: LoginRecord, at time: Int64) {
    logins = logins.filter { $0.value.expires > time }
    // Whose password is tried over and over fills nobody's disk: the oldest log-ins make room.
    let others = logins.values.filter { $0.user == login.user }.sorted { ($0.expires, $0.id) < ($1.expires, $1.id) }
    for old in others.prefix(max(0, others.count + 1 - DirectoryContents.loginsOfUser)) { logins[old.id] = nil }
    logins[login.id] = login
  }

  mutating func rotate(_ id: String, from hash: String, to newHash: String, expires: Int64) -> Bool {
    // Done already, and the answer was lost with a connection.
    if logins[id]?.refreshHash == newHash { return true }
    guard logins[id]?.refreshHash == hash else { return false }
    logins[id]?.refreshHash = newHash
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
}

/// What keeps `DirectoryContents` somewhere, and is a directory by that.
public protocol ContentsDirectory: UserDirectory {
  /// What there is.
  func contents() async throws(ServerStoreError) -> DirectoryContents

  /// Changes it, alone and durably; nothing is kept where `body` changes nothing.
  func change<R: Sendable>(_ body: @Sendable (inout DirectoryContents) -> R) async throws(ServerStoreError) -> R
}

extension ContentsDirectory {
  /// Counts changes.
  public func revision() async throws(ServerStoreError) -> UInt64 { try await contents().revision }
  /// By name.
  public func users() async throws(ServerStoreError) -> [UserRecord] {
    try await contents().users.values.sorted { $0.name < $1.name }
  }
  /// O(1) once it is read.
  public func user(_ name: String) async throws(ServerStoreError) -> UserRecord? { try await contents().users[name] }
  /// O(users).
  public func user(withTokenHash hash: String) async throws(ServerStoreError) -> UserRecord? {
    try await contents().users.values.first { $0.tokenHashes.contains(hash) }
  }
  /// Alone and durably.
  @discardableResult
  public func update(
    _ name: String, _ change: @Sendable @escaping (UserRecord?) -> UserRecord?
  ) async throws(ServerStoreError) -> UserRecord? {
    try await self.change { $0.update(name, change) }
  }
  /// By number.
  public func logins(of user: String?) async throws(ServerStoreError) -> [LoginRecord] {
    try await contents().logins.values.filter { user == nil || $0.user == user }.sorted { $0.id < $1.id }
  }
  /// O(1) once it is read.
  public func login(_ id: String) async throws(ServerStoreError) -> LoginRecord? { try await contents().logins[id] }
  /// Log-ins whose time is over go.
  public func add(_ login: LoginRecord, at time: Int64) async throws(ServerStoreError) {
    try await change { $0.add(login, at: time) }
  }
  /// Compares and changes at once.
  public func rotate(_ id: String, from hash: String, to newHash: String, expires: Int64) async throws(ServerStoreError) -> Bool {
    try await change { $0.rotate(id, from: hash, to: newHash, expires: expires) }
  }
  /// Nothing where there is none.
  public func removeLogin(_ id: String) async throws(ServerStoreError) { try await change { $0.removeLogin(id) } }
  /// Of one user.
  public func removeLogins(of user: String) async throws(ServerStoreError) { try await change { $0.removeLogins(of: user) } }
  /// By path and user.
  public func grants() async throws(ServerStoreError) -> [GrantRecord] { try await contents().grants }
  /// In place of the one before.
  public func put(_ grant: GrantRecord) async throws(ServerStoreError) { try await change { $0.put(grant) } }
}

/// Users in memory: for tests, and for a server within an app.
public actor MemoryUserDirectory: ContentsDirectory {
  private var all = DirectoryContents()

  /// Nobody.
  public init() {}

  public func contents() -> DirectoryContents { all }
  public func change<R: Sendable>(_ body: @Sendable (inout DirectoryContents) -> R) -> R { body(&all) }
}
