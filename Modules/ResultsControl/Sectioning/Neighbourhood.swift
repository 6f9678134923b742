import ChangeTracker

/// Determines the rows to redraw because of other rows: their drawing depends on rows of their section at given offsets.
struct Neighbourhood {
  let offsets: [Int]

  init(_ offsets: Set<Int>) { self.offsets = offsets.filter { $0 != 0 }.sorted() }

  /// The unchanged rows with a neighbour that was replaced or modified. Excludes rows that `changes` already contains. `changes`
  /// refers to the rows shown. O(changes · offsets², log n each).
  func updates(_ changes: ChangeSet, from before: SectionTable, to after: SectionTable) -> [RowStep] {
    let rows = StayingRows(removed: changes.deletions, added: changes.insertions)
    let added = Set(changes.insertions)
    let modified = Set(changes.modificationsInNew)
    var result: [RowStep] = []
    for row in candidates(changes, rows, count: after.rowCount) where !added.contains(row) && !modified.contains(row) {
      let old = rows.old(of: row)
      guard let from = before.path(of: old), let to = after.path(of: row) else { continue }
      let isTouched = offsets.contains { offset in
        let was = Neighbourhood.neighbour(of: old, at: from, offset, in: before)
        guard let now = Neighbourhood.neighbour(of: row, at: to, offset, in: after) else { return was != nil }
        return added.contains(now) || modified.contains(now) || rows.old(of: now) != was
      }
      if isTouched { result.append(RowStep(from: from, to: to)) }
    }
    return result
  }

  private static func neighbour(of row: Int, at path: RowPath, _ offset: Int, in table: SectionTable) -> Int? {
    let place = path.row + offset
    return place >= 0 && place < table.rowCount(of: path.section) ? row + offset : nil
  }

  /// All rows near one that was deleted, inserted or modified; ascending.
  private func candidates(_ changes: ChangeSet, _ rows: StayingRows, count: Int) -> [Int] {
    let reach = offsets.map(abs).max() ?? 0
    var result: Set<Int> = []
    func take(_ range: Range<Int>) { result.formUnion(range.clamped(to: 0..<count)) }
    for row in changes.insertions + changes.modificationsInNew { take(row - reach..<row + reach + 1) }
    for row in changes.deletions {
      let gap = rows.new(after: row)
      take(gap - reach..<gap + reach)
    }
    return result.sorted()
  }
}

/// The positions of the remaining rows before and after deletions and insertions.
private struct StayingRows {
  /// Old positions, ascending.
  let removed: [Int]
  /// New positions, ascending.
  let added: [Int]

  /// The old position of a remaining row, given its new one.
  func old(of row: Int) -> Int { StayingRows.place(of: row - StayingRows.count(below: row, in: added), besides: removed) }

  /// The new position of the first remaining row after a deleted one.
  func new(after row: Int) -> Int { StayingRows.place(of: row - StayingRows.count(below: row, in: removed), besides: added) }

  /// The number of the ascending `rows` that are below `row`.
  private static func count(below row: Int, in rows: [Int]) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The position of the `rank`-th row that is not in `rows`.
  private static func place(of rank: Int, besides rows: [Int]) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle] - middle <= rank { low = middle + 1 } else { high = middle }
    }
    return rank + low
  }
}
