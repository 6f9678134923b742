import Foundation
import SyncProtocol

/// Users and their tokens in a file, a line each: for a server of a few people, without log-ins. A token is drawn by the server
/// and does not end; who has it is the user. The file is read again for each connection, so that users come and go while the server runs.
///
/// Everybody may do everything in the stores under his own name, and read and write those under `/shared`.
public struct TokenFile: SyncAccess {
  private let path: String

  /// The users of a file, which may be missing: then there are none.
  public init(path: String) { self.path = path }

  // MARK: letting in

  public func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    var found: String?
    for (user, known) in try entries() where TokenFile.isSame(known, token) { found = user }
    guard let found else { throw SyncRefusal(.tokenInvalid) }
    return SyncIdentity(user: found)
  }

  public func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    if path.text.hasPrefix("/\(identity.user)/") { return .all }
    return path.text.hasPrefix("/shared/") ? StoreGrant([.read, .write], mayCreate: true) : .none
  }

  /// Takes as long whatever differs.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    guard a.count == b.count, !a.isEmpty else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  // MARK: users

  /// The names, in order.
  public func users() throws(SyncRefusal) -> [String] { try entries().map(\.user).sorted() }

  /// Adds a user, or gives him another token, and returns the token. Throws for a name that cannot be part of a path.
  public func add(_ user: String) throws(SyncRefusal) -> String {
    guard !user.utf8.contains(UInt8(ascii: "/")), StorePath("/\(user)") != nil, user != "shared" else {
      throw SyncRefusal(.tokenInvalid, "'\(user)' cannot be a user's name: it has 1 to 64 of the characters A–Z a–z 0–9 . _ -.")
    }
    let token = (0..<32).map { _ in
      let digits = String(UInt8.random(in: 0...255), radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
    try write(try entries().filter { $0.user != user } + [(user, token)])
    return token
  }

  /// Whether there was such a user.
  public func remove(_ user: String) throws(SyncRefusal) -> Bool {
    let all = try entries()
    let left = all.filter { $0.user != user }
    if left.count < all.count { try write(left) }
    return left.count < all.count
  }

  // MARK: the file

  private func entries() throws(SyncRefusal) -> [(user: String, token: String)] {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    let text: String
    do { text = try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw SyncRefusal(.storageUnavailable, "The users cannot be read.")
    }
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
  }

  /// A new file takes the place of the old one, so that nobody reads half of it.
  private func write(_ entries: [(user: String, token: String)]) throws(SyncRefusal) {
    let text = entries.map { "\($0.user) \($0.token)\n" }.joined()
    let new = path + ".new"
    try? FileManager.default.removeItem(atPath: new)
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: NSNumber(value: Int16(0o600))]
    guard FileManager.default.createFile(atPath: new, contents: Data(text.utf8), attributes: attributes), rename(new, path) == 0 else {
      throw SyncRefusal(.storageUnavailable, "The users cannot be written to '\(path)'.")
    }
  }
}
