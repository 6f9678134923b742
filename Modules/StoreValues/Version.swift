/// The position of a commit in the history of a store.
///
/// It grows by exactly one with each commit, across all threads, processes and restarts. A new, empty store is at version 0.
public struct Version: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  public let rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
  @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether it was committed before the other.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
  /// The version the next commit makes.
  @inlinable public var next: Version { Version(rawValue &+ 1) }
}

extension Version: CustomStringConvertible {
  public var description: String { "v\(rawValue)" }
}
