import ChangeTracker

/// Which rows have to be drawn again because of others: their drawing depends on rows of their section at given offsets.
struct Neighbourhood {
  let offsets: [Int]

  init(_ offsets: Set<Int>) { self.offsets = offsets.filter { $0 != 0 }.sorted() }

  /// The rows that stayed as they are, and one of whose neighbours is another one now, or has other values. What the
  /// changes name themselves is left out. `changes` counts the rows that are shown. O(changes · offsets², log n each).
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

  /// Every row near one that came, went or changed; ascending.
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

/// Where rows that stay stand before and after others went and came.
private struct StayingRows {
  /// Old places, ascending.
  let removed: [Int]
  /// New places, ascending.
  let added: [Int]

  /// The old place of a row that stayed, by its new one.
  func old(of row: Int) -> Int { StayingRows.place(of: row - StayingRows.count(below: row, in: added), besides: removed) }

  /// The new place of the first row that stayed behind one that went.
  func new(after row: Int) -> Int { StayingRows.place(of: row - StayingRows.count(below: row, in: removed), besides: added) }

  /// How many of the ascending `rows` are below one.
  private static func count(below row: Int, in rows: [Int]) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The place of the `rank`-th row that is not in `rows`.
  private static func place(of rank: Int, besides rows: [Int]) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle] - middle <= rank { low = middle + 1 } else { high = middle }
    }
    return rank + low
  }
}
