#if Sync
import Dispatch
import Foundation
import SyncProtocol
import SyncServer

/// Logs users in and out: exchanges passwords for access tokens, which expire soon, and refresh tokens, each of which is valid until
/// its successor is used.
///
/// **Threads.** Any task may call. Passwords are hashed one after the other on a thread of their own, so that many attempts delay only
/// other log-ins.
public actor Accounts {
  /// The options of accounts.
  public struct Options: Sendable {
    /// The maximal number of log-in attempts per minute, for one name and from one address.
    public var triesPerMinute = 5
    /// Whether anybody may register as a user, by a name of which there are neither a user nor stores.
    public var allowsRegistration = false
    /// Days after which an unused log-in expires.
    public var refreshDays = 60
    /// The cost of hashing a password.
    public var passwordCost = PasswordHash.Cost.usual

    /// Creates the default options.
    public init() {}
  }

  /// The result of a log-in or a refresh.
  public struct Tokens: Hashable, Sendable, Codable {
    /// The user's name.
    public var user: String
    /// The token for a connection.
    public var accessToken: String
    /// Seconds for which the access token is valid.
    public var expiresIn: Int64
    /// The token for the next refresh, valid until the token that the refresh gives is used.
    public var refreshToken: String
    /// Seconds for which the refresh token is valid.
    public var refreshExpiresIn: Int64
  }

  private let directory: any UserDirectory
  private let issuer: TokenIssuer
  private let stores: any SyncServerStore
  private let options: Options
  private let clock: @Sendable () -> Int64
  private let ended: @Sendable (_ login: String) async -> Void
  private var limiter: LoginLimiter
  private var hashing = 0
  private let queue = DispatchQueue(label: "vivarium.passwords")
  /// The number of refused log-ins since the start.
  public private(set) var failures = 0

  /// - Parameters:
  ///   - stores: the server's stores. Whoever registers by a name owns all that are below it.
  ///   - clock: milliseconds since 1970.
  ///   - ended: called with ended log-ins, whose connections must end too.
  public init(
    _ directory: any UserDirectory, _ issuer: TokenIssuer, stores: any SyncServerStore, options: Options = Options(),
    clock: @escaping @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) },
    ended: @escaping @Sendable (_ login: String) async -> Void = { _ in }
  ) {
    (self.directory, self.issuer, self.stores, self.options) = (directory, issuer, stores, options)
    (self.clock, self.ended) = (clock, ended)
    limiter = LoginLimiter(tries: options.triesPerMinute)
  }

  // MARK: logging in

  /// Logs a user in. Throws `.tokenInvalid` for a wrong name or password, `.userSuspended`, and `.overloaded` after too many attempts.
  public func logIn(_ name: String, password: String, device: String = "", from address: String) async throws(SyncRefusal) -> Tokens {
    let now = clock()
    // A user's name is shorter; what is longer is kept for a minute too.
    let keys = ["user \(name.prefix(100))", "address \(address)"]
    try count(keys, at: now)
    let user = try await asked { () throws(ServerStoreError) in try await directory.user(name) }
    // The same work for an unknown name, so that the time does not reveal which names exist.
    let kept = user?.passwordHash
    let isRight = try await hashed { [options] in
      if let kept { return PasswordHash.matches(password, kept) }
      _ = try? PasswordHash.make(of: password, cost: options.passwordCost)
      return false
    }
    guard let user, isRight else { throw wrongPassword() }
    limiter.succeed(keys, at: now)
    if user.isSuspended {
      failures += 1
      throw SyncRefusal(.userSuspended)
    }
    return try await begin(user, device: device, at: now)
  }

  /// Creates a user with a password and logs him in, if that is allowed. Throws `.readDenied` if not, and for a name of which there is a
  /// user, or are stores: those of a user who was removed, or of another issuer, belong to whoever has the name.
  public func register(_ name: String, password: String, device: String = "", from address: String) async throws(SyncRefusal) -> Tokens {
    guard options.allowsRegistration else {
      throw SyncRefusal(.readDenied, "Users are added by the administrator of this server.")
    }
    try count(["address \(address)"], at: clock())
    guard UserRecord.isName(name) else { throw SyncRefusal(.badFrame, Accounts.nameRule) }
    let hash = try await self.hash(of: password)
    let all = try await asked { () throws(ServerStoreError) in try await stores.stores() }
    if all.contains(where: { $0.text.hasPrefix("/\(name)/") }) {
      throw SyncRefusal(.readDenied, "There are stores of that name: take another one, or have an administrator add the user.")
    }
    let made = try await asked { () throws(ServerStoreError) in
      try await directory.update(name) { $0 ?? UserRecord(name: name, passwordHash: hash) }
    }
    guard let made, made.passwordHash == hash else { throw SyncRefusal(.readDenied, "There is a user of that name.") }
    return try await begin(made, device: device, at: clock())
  }

  static let nameRule = "A user's name has 1 to 64 of the characters A–Z a–z 0–9 . _ -, and is not 'shared'."

  /// The hash of a new password. Throws `.badFrame` if the password is too short or too long.
  public func hash(of password: String) async throws(SyncRefusal) -> String {
    guard (8...1024).contains(password.utf8.count) else { throw SyncRefusal(.badFrame, "A password has 8 to 1024 bytes.") }
    let hash = try await hashed { [options] in try? PasswordHash.make(of: password, cost: options.passwordCost) }
    guard let hash else { throw SyncRefusal(.overloaded, "There is no memory to hash a password.") }
    return hash
  }

  private func wrongPassword() -> SyncRefusal {
    failures += 1
    return SyncRefusal(.tokenInvalid, "Name or password is wrong.")
  }

  private func begin(_ user: UserRecord, device: String, at now: Int64) async throws(SyncRefusal) -> Tokens {
    let (id, refresh) = (Secret.text(Secret.bytes(12)), Secret.text(Secret.bytes(32)))
    let login = LoginRecord(
      id: id, user: user.name, refreshHash: Secret.hash(refresh), expires: now + refreshTime, device: String(device.prefix(100)))
    // While the password was hashed, somebody may have set another, which ends all log-ins made with this one.
    let isAdded = try await asked { () throws(ServerStoreError) in
      try await directory.add(login, ifPassword: user.passwordHash, at: now)
    }
    guard isAdded else { throw wrongPassword() }
    return try await tokens(user, id, refresh, at: now)
  }

  // MARK: refreshing

  /// Exchanges a refresh token for the next tokens. The same token is exchanged again if the answer was lost, so long as nobody used its
  /// successor. An older token ends its log-in: it was stolen, before or now.
  public func refresh(_ token: String) async throws(SyncRefusal) -> Tokens {
    let now = clock()
    let (id, secret) = try Accounts.parts(of: token)
    let found = try await asked { () throws(ServerStoreError) in try await directory.login(id) }
    guard let found, found.expires > now else { throw SyncRefusal(.tokenInvalid, "The log-in has ended.") }
    let user = try await asked { () throws(ServerStoreError) in try await directory.user(found.user) }
    guard let user else { throw SyncRefusal(.tokenInvalid, "The user is not there any more.") }
    if user.isSuspended { throw SyncRefusal(.userSuspended) }
    let next = Secret.text(Secret.bytes(32))
    let end = now + refreshTime
    let isFresh = try await asked { () throws(ServerStoreError) in
      try await directory.rotate(id, from: Secret.hash(secret), to: Secret.hash(next), expires: end)
    }
    guard isFresh else {
      failures += 1
      try await asked { () throws(ServerStoreError) in try await directory.removeLogin(id) }
      await ended(id)
      throw SyncRefusal(.tokenInvalid, "The refresh token was used before: the log-in has ended for whoever has it.")
    }
    return try await tokens(user, id, next, at: now)
  }

  // MARK: logging out

  /// Ends a log-in. Not an error if it has already ended.
  public func logOut(_ token: String) async throws(SyncRefusal) {
    let (id, secret) = try Accounts.parts(of: token)
    let found = try await asked { () throws(ServerStoreError) in try await directory.login(id) }
    guard let found, found.accepts(Secret.hash(secret)) else { return }
    try await asked { () throws(ServerStoreError) in try await directory.removeLogin(id) }
    await ended(id)
  }

  // MARK: helpers

  private var refreshTime: Int64 { Int64(options.refreshDays) * 86_400_000 }

  private static func parts(of token: String) throws(SyncRefusal) -> (id: String, secret: String) {
    let parts = token.split(separator: ".")
    guard parts.count == 2, token.utf8.count <= 256 else { throw SyncRefusal(.tokenInvalid, "It is no refresh token.") }
    return (String(parts[0]), String(parts[1]))
  }

  private func tokens(_ user: UserRecord, _ id: String, _ refresh: String, at now: Int64) async throws(SyncRefusal) -> Tokens {
    let access: String
    do { access = try await issuer.token(user: user.name, login: id, isAdministrator: user.isAdministrator, at: now) } catch {
      throw SyncRefusal(.storageUnavailable, "The server cannot sign tokens.")
    }
    return Tokens(
      user: user.name, accessToken: access, expiresIn: issuer.lifetime, refreshToken: "\(id).\(refresh)",
      refreshExpiresIn: refreshTime / 1000)
  }

  private func count(_ keys: [String], at now: Int64) throws(SyncRefusal) {
    guard let seconds = limiter.begin(keys, at: now) else { return }
    failures += 1
    throw SyncRefusal(.overloaded, "There were too many tries to log in: the next one is in \(seconds) s.", retryAfterSeconds: seconds)
  }

  /// Runs one at a time, with a limited queue, because each takes memory.
  private func hashed<R: Sendable>(_ body: @escaping @Sendable () -> R) async throws(SyncRefusal) -> R {
    guard hashing < 32 else { throw SyncRefusal(.overloaded, "Too many log in at once.", retryAfterSeconds: 5) }
    hashing += 1
    defer { hashing -= 1 }
    return await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
  }

  private func asked<R: Sendable>(_ body: () async throws(ServerStoreError) -> R) async throws(SyncRefusal) -> R {
    do throws(ServerStoreError) { return try await body() } catch { throw SyncRefusal(error) }
  }
}

/// Tokens that do not expire.
public enum StandingToken {
  /// Makes a new token, and its hash to store.
  public static func make() -> (token: String, hash: String) {
    let token = Secret.text(Secret.bytes(32))
    return (token, Secret.hash(token))
  }
}
#endif
