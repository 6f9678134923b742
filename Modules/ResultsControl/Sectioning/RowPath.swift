/// Where a row is: its section, and its place in it. What `IndexPath` is to a table view, without one.
public struct RowPath: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The section, from 0.
  public var section: Int
  /// The place in the section, from 0.
  public var row: Int

  /// Names a place, whether there is a row or not.
  public init(section: Int, row: Int) {
    self.section = section
    self.row = row
  }

  /// By section, then by row: the order in which rows are shown.
  public static func < (a: RowPath, b: RowPath) -> Bool { (a.section, a.row) < (b.section, b.row) }
  public var description: String { "[\(section), \(row)]" }
}

/// A row in both states: where it was and where it is.
public struct RowStep: Sendable, Hashable {
  /// In the old sections.
  public var from: RowPath
  /// In the new sections.
  public var to: RowPath

  /// A row that was there and is here.
  public init(from: RowPath, to: RowPath) {
    self.from = from
    self.to = to
  }
}
