import SyncProtocol

/// A user of a server, as it is kept.
public struct UserRecord: Hashable, Sendable, Codable {
  /// A part of paths: what `StorePath.isPart` takes, and neither "shared" nor "__server".
  public var name: String
  /// What `PasswordHash` made; nil for one who has no password.
  public var passwordHash: String?
  /// The hashes of tokens that do not end by themselves: for programs, and for servers of a few people.
  public var tokenHashes: [String]
  /// Whether the user may do everything, and may use the administrator's routes.
  public var isAdministrator: Bool
  /// Whether the user is kept out.
  public var isSuspended: Bool

  /// A user of its parts.
  public init(
    name: String, passwordHash: String? = nil, tokenHashes: [String] = [], isAdministrator: Bool = false, isSuspended: Bool = false
  ) {
    (self.name, self.passwordHash, self.tokenHashes) = (name, passwordHash, tokenHashes)
    (self.isAdministrator, self.isSuspended) = (isAdministrator, isSuspended)
  }

  /// Whether a text can be a user's name.
  public static func isName(_ text: String) -> Bool { StorePath.isPart(text) && text != "shared" && text != "__server" }
}

/// One log-in of a user on one device: it lives on by refresh tokens, each of which is good for once.
public struct LoginRecord: Hashable, Sendable, Codable {
  /// Its number, which is in its tokens as `sid`.
  public var id: String
  /// Whose.
  public var user: String
  /// The hash of the refresh token that is good now.
  public var refreshHash: String
  /// When that ends, in milliseconds since 1970.
  public var expires: Int64
  /// What the device said it is.
  public var device: String

  /// A log-in of its parts.
  public init(id: String, user: String, refreshHash: String, expires: Int64, device: String = "") {
    (self.id, self.user, self.refreshHash, self.expires, self.device) = (id, user, refreshHash, expires, device)
  }
}

/// What a user may do at a path.
public struct GrantRecord: Hashable, Sendable, Codable {
  /// Who; "*" for everybody who is let in.
  public var user: String
  /// A store's path, or one that ends in "/*": all stores below.
  public var path: String
  /// Whether the store may be read.
  public var mayRead: Bool
  /// Whether it may be changed.
  public var mayWrite: Bool
  /// Whether it may be made, and rights on it given.
  public var mayManage: Bool
  /// Of an offer, who has made it: it is good while he may give these rights. nil for a right that somebody has.
  public var giver: String?
  /// Of an offer, when it ends, in milliseconds since 1970; nil for one that does not.
  public var expires: Int64?

  /// A right of its parts.
  public init(user: String, path: String, mayRead: Bool, mayWrite: Bool = false, mayManage: Bool = false) {
    (self.user, self.path, self.mayRead, self.mayWrite, self.mayManage) = (user, path, mayRead, mayWrite, mayManage)
  }

  /// What stands for a user in an offer to whoever has a token, by what is kept of that. No user's name has a colon.
  public static func offer(_ hash: String) -> String { "offer:\(hash)" }

  /// Whether it says nothing at all: putting it takes the right away.
  public var isEmpty: Bool { !mayRead && !mayWrite && !mayManage }

  /// A right in the short form that people type: letters of "rwm", or "none".
  public init?(user: String, path: String, rights: String) {
    guard user == "*" || UserRecord.isName(user), GrantRecord.isPattern(path), let rights = Bound.Rights(short: rights) else { return nil }
    self.init(
      user: user, path: path, mayRead: rights.contains(.read), mayWrite: rights.contains(.write), mayManage: rights.contains(.manage))
  }

  /// Whether a text can be what a right is about.
  public static func isPattern(_ path: String) -> Bool {
    StorePath(path.hasSuffix("/*") ? String(path.dropLast(2)) : path) != nil
  }

  /// Whether it is about a store.
  public func covers(_ store: StorePath) -> Bool {
    path.hasSuffix("/*") ? store.text.hasPrefix(path.dropLast(1)) : store.text == path
  }

  /// What it gives.
  public var rights: Bound.Rights {
    var rights: Bound.Rights = []
    if mayRead || mayWrite { rights.insert(.read) }
    if mayWrite { rights.insert(.write) }
    if mayManage { rights.insert(.manage) }
    return rights
  }
}

extension Bound.Rights {
  /// Letters of "rwm", or "none"; nil for anything else.
  public init?(short text: String) {
    if text == "none" { self = []; return }
    guard !text.isEmpty, text.allSatisfy({ "rwm".contains($0) }) else { return nil }
    self = []
    if text.contains("r") || text.contains("w") { insert(.read) }
    if text.contains("w") { insert(.write) }
    if text.contains("m") { insert(.manage) }
  }

  /// The letters.
  public var short: String {
    let text = (contains(.read) ? "r" : "") + (contains(.write) ? "w" : "") + (contains(.manage) ? "m" : "")
    return text.isEmpty ? "none" : text
  }
}
