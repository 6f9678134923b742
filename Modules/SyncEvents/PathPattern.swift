import SyncServer

/// Which stores of a server are meant: "/shared/shop", "/*/orders", "/shared/*".
///
/// A part that is "*" stands for any part; at the end for any number of them, at least one.
public struct PathPattern: Hashable, Sendable, CustomStringConvertible {
  private let parts: [String]

  /// nil for a text that is no pattern.
  public init?(_ text: String) {
    guard StorePath(text.replacing("*", with: "x")) != nil else { return nil }
    parts = text.dropFirst().split(separator: "/").map(String.init)
    guard parts.allSatisfy({ $0 == "*" || !$0.contains("*") }) else { return nil }
  }

  /// Whether a store is meant. O(parts).
  public func matches(_ path: StorePath) -> Bool {
    let found = path.text.dropFirst().split(separator: "/")
    guard found.count == parts.count || parts.last == "*" && found.count > parts.count else { return false }
    return zip(parts, found).allSatisfy { $0 == "*" || $0 == $1 }
  }

  public var description: String { "/" + parts.joined(separator: "/") }
}
