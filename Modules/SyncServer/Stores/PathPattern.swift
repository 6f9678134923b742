/// A pattern for the paths of a server's stores: "/shared/shop", "/*/orders", "/shared/*".
///
/// A part "*" matches any part; at the end it matches one or more parts.
public struct PathPattern: Hashable, Sendable, CustomStringConvertible {
  private let parts: [String]

  /// Returns nil for a text that is not a pattern.
  public init?(_ text: String) {
    guard StorePath(text.replacing("*", with: "x")) != nil else { return nil }
    parts = text.dropFirst().split(separator: "/").map(String.init)
    guard parts.allSatisfy({ $0 == "*" || !$0.contains("*") }) else { return nil }
  }

  /// Whether a path matches. O(parts).
  public func matches(_ path: StorePath) -> Bool {
    let found = path.text.dropFirst().split(separator: "/")
    guard found.count == parts.count || parts.last == "*" && found.count > parts.count else { return false }
    return zip(parts, found).allSatisfy { $0 == "*" || $0 == $1 }
  }

  public var description: String { "/" + parts.joined(separator: "/") }
}
