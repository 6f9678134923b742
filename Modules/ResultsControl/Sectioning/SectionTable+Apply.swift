import ChangeTracker
import StoreValues

extension SectionTable {
  /// Updates the sections for changes of the list, and returns the changes of sections and paths.
  ///
  /// `key` returns the section key of a row of the new list; it is called only for insertions and modifications. A modified row
  /// whose key changed moves between sections, even if it keeps its position in the list. O(k · (log of sections + sections / 512))
  /// for k changes.
  mutating func apply(_ changes: ChangeSet, key: (Int) -> Value) -> SectionedChanges {
    var step = SectionStep(changes)
    step.sortOut(self, key)
    step.remove(&self)
    step.insert(&self)
    step.prune(&self)
    return step.result(self)
  }
}

/// The work of one step. First removes all leaving rows, by their old sections; then inserts the new rows in ascending order, so
/// that all rows before each are final. Sections left empty are removed only at the end.
private struct SectionStep {
  private struct Coming {
    let row: Int
    let key: Value
  }

  private let changes: ChangeSet
  /// Old paths by old row.
  private var oldPaths: [Int: RowPath] = [:]
  private var leaving: [RowPath] = []
  private var coming: [Coming] = []
  /// Rows in both states, by old and new row of the list.
  private var moves: [(from: Int, to: Int)] = []
  private var updates: [(from: Int, to: Int)] = []
  /// New sections: ascending, counted before any section is removed.
  private var made: [Int] = []
  private var changed = SectionedChanges()

  init(_ changes: ChangeSet) { self.changes = changes }

  /// Finds the old paths, and the modified rows whose section changed.
  mutating func sortOut(_ table: SectionTable, _ key: (Int) -> Value) {
    for row in changes.deletions {
      guard let path = table.path(of: row) else { continue }
      oldPaths[row] = path
      leaving.append(path)
    }
    for row in changes.insertions { coming.append(Coming(row: row, key: key(row))) }
    for (old, new) in zip(changes.modifications, changes.modificationsInNew) {
      guard let path = table.path(of: old) else { continue }
      oldPaths[old] = path
      let key = key(new)
      if table.key(of: path.section).isSameKey(as: key) {
        updates.append((old, new))
      } else {
        leaving.append(path)
        coming.append(Coming(row: new, key: key))
        moves.append((old, new))
      }
    }
    moves += changes.moves.map { ($0.from, $0.to) }
    coming.sort { $0.row < $1.row }
  }

  mutating func remove(_ table: inout SectionTable) {
    for path in leaving { table.removeRow(from: path.section) }
  }

  mutating func insert(_ table: inout SectionTable) {
    for row in coming {
      if let section = table.insertRow(row.key, at: row.row) { made.append(section) }
    }
  }

  /// Removes the sections that lost their last row. `made` is ascending, so counting the new sections before an index yields its
  /// old index.
  mutating func prune(_ table: inout SectionTable) {
    var removed: [Int] = []
    var next = 0
    for old in Set(leaving.map(\.section)).sorted() {
      while next < made.count, made[next] <= old + next { next += 1 }
      guard table.isSuperfluous(old + next) else { continue }
      changed.deletedSections.append(old)
      removed.append(old + next)
    }
    for section in removed.reversed() { table.removeSection(section) }
    var before = 0
    for section in made {
      while before < removed.count, removed[before] < section { before += 1 }
      changed.insertedSections.append(section - before)
    }
  }

  /// The paths, now that every section has its final index.
  mutating func result(_ table: SectionTable) -> SectionedChanges {
    let movedFrom = Set(moves.map(\.from))
    let movedTo = Set(moves.map(\.to))
    changed.deletions = changes.deletions.filter { !movedFrom.contains($0) }.compactMap { oldPaths[$0] }
    changed.insertions = changes.insertions.filter { !movedTo.contains($0) }.compactMap { table.path(of: $0) }
    changed.moves = steps(moves, table)
    changed.updates = steps(updates, table)
    return changed
  }

  private func steps(_ rows: [(from: Int, to: Int)], _ table: SectionTable) -> [RowStep] {
    rows.compactMap { from, to in
      guard let from = oldPaths[from], let to = table.path(of: to) else { return nil }
      return RowStep(from: from, to: to)
    }.sorted { $0.from < $1.from }
  }
}
