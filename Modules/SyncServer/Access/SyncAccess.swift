import SyncProtocol

/// Who may do what on a server: reads tokens, and knows the rights on stores.
///
/// Asked when a connection begins, when it brings a fresh token, and when it binds to a store. **Threads.** Any task may call.
public protocol SyncAccess: Sendable {
  /// Whose token it is. Throws `.tokenInvalid`, `.tokenExpired` or `.userSuspended`.
  ///
  /// - Parameter time: milliseconds since 1970, by the server's clock.
  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity

  /// What a user may do in a store, whether it is there or not. Throws where it cannot be told.
  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant

  /// Why somebody who was let in may not go on; nil where he may. Asked when users or rights may have changed.
  func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal?
}

extension SyncAccess {
  /// Who is in stays in.
  public func refusal(of identity: SyncIdentity) async throws(SyncRefusal) -> SyncRefusal? { nil }
}

/// A user, as a token says it.
public struct SyncIdentity: Hashable, Sendable {
  /// The user's name: a part of paths (`StorePath`).
  public var user: String
  /// When the token ends, in milliseconds since 1970; nil for one that does not.
  public var expires: Int64?
  /// Whether the user may do everything.
  public var isAdministrator: Bool
  /// The log-in that the token belongs to; nil for one that belongs to none.
  public var login: String?
  /// What the token itself gives, by path (`GrantRecord.path`).
  public var claims: [String: Bound.Rights]

  /// A user of its parts.
  public init(
    user: String, expires: Int64? = nil, isAdministrator: Bool = false, login: String? = nil, claims: [String: Bound.Rights] = [:]
  ) {
    (self.user, self.expires, self.isAdministrator, self.login, self.claims) = (user, expires, isAdministrator, login, claims)
  }
}

/// What somebody may do in a store.
public struct StoreGrant: Hashable, Sendable {
  /// None at all: the store cannot be told from one that is not there.
  public var rights: Bound.Rights
  /// Whether the first who binds makes the store.
  public var mayCreate: Bool

  /// A grant of its parts.
  public init(_ rights: Bound.Rights, mayCreate: Bool = false) { (self.rights, self.mayCreate) = (rights, mayCreate) }

  /// Nothing.
  public static let none = StoreGrant([])
  /// Everything.
  public static let all = StoreGrant([.read, .write, .manage], mayCreate: true)
}

/// Why somebody is not let in.
public struct SyncRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the other side is told.
  public let code: SyncErrorCode
  /// What was found; for the user, without secrets.
  public let text: String
  /// When it is worth another try, in seconds.
  public let retryAfterSeconds: UInt64

  /// A refusal of its parts.
  public init(_ code: SyncErrorCode, _ text: String = "", retryAfterSeconds: UInt64 = 0) {
    (self.code, self.text, self.retryAfterSeconds) = (code, text, retryAfterSeconds)
  }

  /// What the other side is told of a store's error.
  public init(_ error: ServerStoreError) { self.init(error.syncCode, error.message) }

  /// What happened.
  public var message: String { text.isEmpty ? code.message : "\(code.message) \(text)" }
  /// What helps.
  public var remedy: String { code.remedy }
  public var description: String { "\(message) \(remedy)" }
}
