import SyncProtocol

/// Authenticates users and decides their rights on stores.
///
/// The server calls it when a connection begins, sends a new token, or binds to a store. **Threads.** Any task may call.
public protocol SyncAccess: Sendable {
  /// The user of a token. Throws `.tokenInvalid`, `.tokenExpired` or `.userSuspended`.
  ///
  /// - Parameter time: milliseconds since 1970, by the server's clock.
  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity

  /// The rights of a user on a store, whether it exists or not. Throws if they cannot be determined.
  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant

  /// Why an authenticated user may not continue; nil if he may. Called when users or rights may have changed.
  func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal?
}

extension SyncAccess {
  /// Users may always continue.
  public func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal? { nil }
}

/// A user, as identified by a token.
public struct SyncIdentity: Hashable, Sendable {
  /// The user's name: a part of paths (`StorePath`).
  public var user: String
  /// When the token expires, in milliseconds since 1970; nil if never.
  public var expires: Int64?
  /// Whether the user has all rights.
  public var isAdministrator: Bool
  /// The log-in that the token belongs to; nil if none.
  public var login: String?
  /// The rights that the token itself grants, by path (`GrantRecord.path`).
  public var claims: [String: Bound.Rights]
  /// Whether another issuer than the server vouches for the user. He may have the name of one whom the server knows.
  public var isOutside = false

  /// Creates an identity.
  public init(
    user: String, expires: Int64? = nil, isAdministrator: Bool = false, login: String? = nil, claims: [String: Bound.Rights] = [:]
  ) {
    (self.user, self.expires, self.isAdministrator, self.login, self.claims) = (user, expires, isAdministrator, login, claims)
  }
}

/// A user's rights on a store.
public struct StoreGrant: Hashable, Sendable {
  /// The rights. If there are none, the store looks as if it did not exist.
  public var rights: Bound.Rights
  /// Whether the first bind creates the store.
  public var mayCreate: Bool

  /// Creates a grant.
  public init(_ rights: Bound.Rights, mayCreate: Bool = false) { (self.rights, self.mayCreate) = (rights, mayCreate) }

  /// No rights.
  public static let none = StoreGrant([])
  /// All rights.
  public static let all = StoreGrant([.read, .write, .manage], mayCreate: true)
}

/// Why a request is refused.
public struct SyncRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The code sent to the other side.
  public let code: SyncErrorCode
  /// What was found; for the user, without secrets.
  public let text: String
  /// Seconds after which a retry makes sense.
  public let retryAfterSeconds: UInt64
  /// What else was found, for the server's log alone: it may name files, hosts and users of a database. Empty if there is nothing.
  public let detail: String

  /// Creates a refusal.
  public init(_ code: SyncErrorCode, _ text: String = "", retryAfterSeconds: UInt64 = 0, detail: String = "") {
    (self.code, self.text, self.retryAfterSeconds, self.detail) = (code, text, retryAfterSeconds, detail)
  }

  /// The refusal to send for a store's error. Why the data cannot be used helps nobody but the operator: whoever asks is told that it is
  /// temporary, and to come back.
  public init(_ error: ServerStoreError) {
    if error.code == .unavailable { self.init(error.syncCode, detail: error.message) } else { self.init(error.syncCode, error.message) }
  }

  /// The refusal to send for an error of reading a log or objects. If the log was truncated while a slow client read it, the client
  /// reconnects, and gets objects.
  init(reading error: ServerStoreError) {
    if error.code == .logTruncated { self.init(.overloaded, error.message) } else { self.init(error) }
  }

  /// What happened.
  public var message: String { text.isEmpty ? code.message : "\(code.message) \(text)" }
  /// What happened, for the server's log.
  var logged: String { detail.isEmpty ? message : "\(message) \(detail)" }
  /// What helps.
  public var remedy: String { code.remedy }
  public var description: String { "\(message) \(remedy)" }
}
