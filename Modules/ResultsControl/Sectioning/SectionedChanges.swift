/// The changes between two states of sectioned rows, such that a table view can animate them in one batch.
///
/// Deletions, and `from` of moves and updates, refer to the old sections; insertions and `to` refer to the new ones. All are
/// ascending. Rows of a deleted section are also listed as deletions or moves, and rows of an inserted section as insertions or
/// moves.
public struct SectionedChanges: Sendable, Hashable {
  /// Old indexes of deleted sections.
  public var deletedSections: [Int] = []
  /// New indexes of inserted sections.
  public var insertedSections: [Int] = []
  /// Old paths of deleted rows.
  public var deletions: [RowPath] = []
  /// New paths of inserted rows.
  public var insertions: [RowPath] = []
  /// Rows that moved, within the order of the list or to another section.
  public var moves: [RowStep] = []
  /// Rows that stayed in place and were modified.
  public var updates: [RowStep] = []

  /// No changes.
  public init() {}

  /// Whether there are no changes.
  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty && deletedSections.isEmpty
      && insertedSections.isEmpty
  }

  /// Applies the changes to the old sections in the order of a table view: rows out, sections out, sections in, rows in, reload.
  /// Takes inserted and reloaded rows from `new`. Nil if the changes do not fit the two states, which never happens for changes
  /// between them. O(old + new).
  public func replay<Row>(_ old: [[Row]], into new: [[Row]]) -> [[Row]]? {
    var result = old
    for path in (deletions + moves.map(\.from)).sorted().reversed() {
      guard result.indices.contains(path.section), result[path.section].indices.contains(path.row) else { return nil }
      result[path.section].remove(at: path.row)
    }
    for section in deletedSections.reversed() {
      guard result.indices.contains(section), result[section].isEmpty else { return nil }
      result.remove(at: section)
    }
    for section in insertedSections {
      guard section <= result.count else { return nil }
      result.insert([], at: section)
    }
    guard result.count == new.count else { return nil }
    for path in (insertions + moves.map(\.to)).sorted() {
      guard new.indices.contains(path.section), new[path.section].indices.contains(path.row),
        path.row <= result[path.section].count
      else { return nil }
      result[path.section].insert(new[path.section][path.row], at: path.row)
    }
    for path in updates.map(\.to) {
      guard result.indices.contains(path.section), result[path.section].indices.contains(path.row),
        new[path.section].indices.contains(path.row)
      else { return nil }
      result[path.section][path.row] = new[path.section][path.row]
    }
    return result
  }
}
