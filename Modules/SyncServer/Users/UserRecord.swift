import SyncProtocol

/// A stored user of a server.
public struct UserRecord: Hashable, Sendable, Codable {
  /// The name, a part of paths: a text for which `StorePath.isPart` returns true, except "shared" and "__server".
  public var name: String
  /// The result of `PasswordHash`; nil for a user without a password.
  public var passwordHash: String?
  /// The hashes of tokens that do not expire: for programs, and for servers with few users.
  public var tokenHashes: [String]
  /// Whether the user has all rights, and may use the administrator's routes.
  public var isAdministrator: Bool
  /// Whether the user is locked out.
  public var isSuspended: Bool

  /// Creates a user.
  public init(
    name: String, passwordHash: String? = nil, tokenHashes: [String] = [], isAdministrator: Bool = false, isSuspended: Bool = false
  ) {
    (self.name, self.passwordHash, self.tokenHashes) = (name, passwordHash, tokenHashes)
    (self.isAdministrator, self.isSuspended) = (isAdministrator, isSuspended)
  }

  /// Whether a text can be a user's name.
  public static func isName(_ text: String) -> Bool { StorePath.isPart(text) && text != "shared" && text != "__server" }
}

/// One log-in of a user on one device; refresh tokens prolong it, each until the next one is used.
public struct LoginRecord: Hashable, Sendable, Codable {
  /// The id, which its tokens contain as `sid`.
  public var id: String
  /// The name of the user.
  public var user: String
  /// The hash of the valid refresh token.
  public var refreshHash: String
  /// The hash of the token before it, which is valid until the present one is used: the answer with the present one may have been lost.
  public var previousHash: String?
  /// When that token expires, in milliseconds since 1970.
  public var expires: Int64
  /// The device's name for itself.
  public var device: String

  /// Creates a log-in.
  public init(id: String, user: String, refreshHash: String, expires: Int64, device: String = "") {
    (self.id, self.user, self.refreshHash, self.expires, self.device) = (id, user, refreshHash, expires, device)
  }

  /// Whether a refresh token with this hash prolongs the log-in: the present one, or the one before it.
  public func accepts(_ hash: String) -> Bool { hash == refreshHash || hash == previousHash }
}

/// The rights of a user at a path.
public struct GrantRecord: Hashable, Sendable, Codable {
  /// The name of the user; "*" for every user.
  public var user: String
  /// A store's path, or one that ends in "/*" for all stores below it.
  public var path: String
  /// Whether the user may read the store.
  public var mayRead: Bool
  /// Whether the user may change the store.
  public var mayWrite: Bool
  /// Whether the user may create the store and grant rights on it.
  public var mayManage: Bool
  /// For an offer, its author: it is valid while he may grant these rights. nil for a user's grant.
  public var giver: String?
  /// For an offer, when it expires, in milliseconds since 1970; nil if never.
  public var expires: Int64?

  /// Creates a grant.
  public init(user: String, path: String, mayRead: Bool, mayWrite: Bool = false, mayManage: Bool = false) {
    (self.user, self.path, self.mayRead, self.mayWrite, self.mayManage) = (user, path, mayRead, mayWrite, mayManage)
  }

  /// The name that stands for the user in an offer to whoever has a token with this hash. No user's name has a colon.
  public static func offer(_ hash: String) -> String { "offer:\(hash)" }

  /// Whether it grants nothing: putting it removes the grant.
  public var isEmpty: Bool { !mayRead && !mayWrite && !mayManage }

  /// Creates a grant from the short form that people type: letters of "rwm", or "none".
  public init?(user: String, path: String, rights: String) {
    guard user == "*" || UserRecord.isName(user), GrantRecord.isPattern(path), let rights = Bound.Rights(short: rights) else { return nil }
    self.init(
      user: user, path: path, mayRead: rights.contains(.read), mayWrite: rights.contains(.write), mayManage: rights.contains(.manage))
  }

  /// Whether a text can be the path of a grant.
  public static func isPattern(_ path: String) -> Bool {
    StorePath(path.hasSuffix("/*") ? String(path.dropLast(2)) : path) != nil
  }

  /// Whether it applies to a store.
  public func covers(_ store: StorePath) -> Bool {
    path.hasSuffix("/*") ? store.text.hasPrefix(path.dropLast(1)) : store.text == path
  }

  /// The granted rights.
  public var rights: Bound.Rights {
    var rights: Bound.Rights = []
    if mayRead || mayWrite { rights.insert(.read) }
    if mayWrite { rights.insert(.write) }
    if mayManage { rights.insert(.manage) }
    return rights
  }
}

extension Bound.Rights {
  /// Parses letters of "rwm", or "none"; nil for anything else.
  public init?(short text: String) {
    if text == "none" { self = []; return }
    guard !text.isEmpty, text.allSatisfy({ "rwm".contains($0) }) else { return nil }
    self = []
    if text.contains("r") || text.contains("w") { insert(.read) }
    if text.contains("w") { insert(.write) }
    if text.contains("m") { insert(.manage) }
  }

  /// The letters of the rights, or "none".
  public var short: String {
    let text = (contains(.read) ? "r" : "") + (contains(.write) ? "w" : "") + (contains(.manage) ? "m" : "")
    return text.isEmpty ? "none" : text
  }
}
