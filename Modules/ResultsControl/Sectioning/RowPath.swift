/// The position of a row: its section, and its place in the section. Like a table view's `IndexPath`, but independent of it.
public struct RowPath: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The section, from 0.
  public var section: Int
  /// The place in the section, from 0.
  public var row: Int

  /// A position, whether there is a row or not.
  public init(section: Int, row: Int) {
    self.section = section
    self.row = row
  }

  /// By section, then by row: the order in which rows are shown.
  public static func < (a: RowPath, b: RowPath) -> Bool { (a.section, a.row) < (b.section, b.row) }
  public var description: String { "[\(section), \(row)]" }
}

/// A row in both states: its old and new path.
public struct RowStep: Sendable, Hashable {
  /// The path in the old sections.
  public var from: RowPath
  /// The path in the new sections.
  public var to: RowPath

  /// A row that moved from one path to the other, or stayed.
  public init(from: RowPath, to: RowPath) {
    self.from = from
    self.to = to
  }
}
