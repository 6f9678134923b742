/// What changed between two states of sectioned rows: what a table view needs to animate it in one batch.
///
/// Deletions, and the `from` of moves and updates, count in the old sections; insertions and `to` in the new
/// ones. Everything is ascending. A row of a section that vanished is also a deletion or a move itself, and a row of a section
/// that came an insertion or a move.
public struct SectionedChanges: Sendable, Hashable {
  /// Old indexes of sections that are gone.
  public var deletedSections: [Int] = []
  /// New indexes of sections that came.
  public var insertedSections: [Int] = []
  /// Old paths of rows that are gone.
  public var deletions: [RowPath] = []
  /// New paths of rows that came.
  public var insertions: [RowPath] = []
  /// Rows that stand elsewhere now, in the order of the list or in another section.
  public var moves: [RowStep] = []
  /// Rows that stayed and have other values.
  public var updates: [RowStep] = []

  /// Nothing changed.
  public init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty && deletedSections.isEmpty
      && insertedSections.isEmpty
  }

  /// Old sections brought to the new ones by the steps of a table view: rows out, sections out, sections in, rows in, reload.
  /// Takes the rows that come and those to reload from `new`. Nil when the steps do not fit the two, which changes
  /// between them never do. O(old + new).
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
