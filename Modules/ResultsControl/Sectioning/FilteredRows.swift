import ChangeTracker

/// The rows of a list that pass a test which only the program can evaluate, with their positions.
struct FilteredRows {
  private struct Flag: Weighted {
    var passes: Bool
    var weight: Int { passes ? 1 : 0 }
  }

  private var flags: WeightedList<Flag>

  /// The number of rows that pass.
  var count: Int { flags.weight }

  init(count: Int, passes: (Int) -> Bool) {
    flags = WeightedList((0..<count).map { Flag(passes: passes($0)) })
  }

  /// The row, in the whole list, of the passing row at `position`.
  func row(at position: Int) -> Int? { flags.find(row: position)?.index }

  /// The position of a row of the whole list among those that pass; nil if it does not pass.
  func position(of row: Int) -> Int? {
    guard row >= 0, row < flags.count, flags[row].passes else { return nil }
    return flags.weight(before: row)
  }

  /// Converts changes of the whole list to changes of the rows that pass. Calls `passes` for inserted and modified rows, with their
  /// new positions in the whole list. O(k · cost of finding one).
  mutating func apply(_ changes: ChangeSet, passes: (Int) -> Bool) -> ChangeSet {
    var result = ChangeSet()
    var positions: [Int: Int] = [:]
    for row in changes.deletions + changes.modifications { positions[row] = position(of: row) }
    result.deletions = changes.deletions.compactMap { positions[$0] }
    for row in changes.deletions.reversed() { flags.remove(at: row) }
    for row in changes.insertions { flags.insert(Flag(passes: passes(row)), at: row) }
    for row in changes.modificationsInNew {
      let isIn = passes(row)
      flags.update(at: row) { $0.passes = isIn }
    }
    // Only now are all new positions final.
    result.insertions = changes.insertions.compactMap { position(of: $0) }
    for (old, new) in zip(changes.modifications, changes.modificationsInNew) {
      switch (positions[old], position(of: new)) {
      case (let before?, let after?):
        result.modifications.append(before)
        result.modificationsInNew.append(after)
      case (let before?, nil): result.deletions.append(before)
      case (nil, let after?): result.insertions.append(after)
      case (nil, nil): break
      }
    }
    for move in changes.moves {
      if let from = positions[move.from], let to = position(of: move.to) { result.moves.append(.init(from: from, to: to)) }
    }
    result.deletions.sort()
    result.insertions.sort()
    return result
  }

  /// Applies another test to every row and returns the changes. O(n).
  mutating func refilter(passes: (Int) -> Bool) -> ChangeSet {
    var result = ChangeSet()
    var (old, new, row) = (0, 0, 0)
    flags = WeightedList(
      flags.elements.map { flag in
        let isIn = passes(row)
        row += 1
        if flag.passes, !isIn { result.deletions.append(old) }
        if !flag.passes, isIn { result.insertions.append(new) }
        old += flag.weight
        new += isIn ? 1 : 0
        return Flag(passes: isIn)
      })
    return result
  }
}
