/// A reference to an object of any type: a link in a mixed value. A link whose property declares the type is only an
/// `ObjectKey`.
public struct ObjectLink: Sendable, Hashable, Codable {
  /// The table of the object.
  public let table: TableID
  /// The object's key there.
  public let key: ObjectKey

  /// The largest key that a link in a mixed value can have, 2^47 − 1.
  public static let keyMax: Int64 = 1 << 47 - 1

  /// Names an object, whether or not it exists.
  public init(_ table: TableID, _ key: ObjectKey) {
    self.table = table
    self.key = key
  }
}

extension ObjectLink: Comparable {
  /// By table, then by key.
  public static func < (a: ObjectLink, b: ObjectLink) -> Bool { (a.table, a.key) < (b.table, b.key) }
}

extension ObjectLink: CustomStringConvertible {
  public var description: String { "\(table.rawValue)\(key)" }
}
