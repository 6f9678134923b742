/// The identity of an object inside its table.
///
/// The storage engine issues keys in increasing order, starting at 1, and never reuses them: not after a delete, not after a
/// compaction, and within one open engine not after a rollback. They are the last tie-break of every order, so results are the
/// same on every engine.
public struct ObjectKey: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  public let rawValue: Int64

  @inlinable public init(rawValue: Int64) { self.rawValue = rawValue }
  @inlinable public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// By number, which is the order of insertion.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension ObjectKey: CustomStringConvertible {
  public var description: String { "#\(rawValue)" }
}
