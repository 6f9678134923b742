/// A table's number in a file. Assigned when the type is first stored, never reused; the name is only in the catalog, so
/// renaming a type rewrites no data.
public struct TableID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  public let rawValue: UInt16
  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
  @inlinable public init(_ rawValue: UInt16) { self.rawValue = rawValue }
  /// By number, which is the order of first use.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A property's number in its table. Never reused within the table.
public struct PropertyID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  public let rawValue: UInt16
  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
  @inlinable public init(_ rawValue: UInt16) { self.rawValue = rawValue }
  /// By number, which is the order of first use.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// An index's number in a file. Never reused.
public struct IndexID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  public let rawValue: UInt16
  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
  @inlinable public init(_ rawValue: UInt16) { self.rawValue = rawValue }
  /// By number, which is the order of first use.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// One property of one table, as storage addresses it.
public struct ColumnID: Hashable, Sendable, Codable {
  /// The table.
  public let table: TableID
  /// The property, by its number in the table.
  public let property: PropertyID
  /// Names a column, whether or not it exists.
  @inlinable public init(_ table: TableID, _ property: PropertyID) {
    self.table = table
    self.property = property
  }
}
