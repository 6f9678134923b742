import ChangeTracker

/// The first rows of a list, up to a limit, so that a list can be shown page by page.
struct RowWindow {
  /// The maximum number of rows; nil: all.
  private(set) var limit: Int?
  /// The number of rows of the whole list.
  private(set) var total: Int

  init(limit: Int?, total: Int) {
    self.limit = limit.map { max($0, 0) }
    self.total = total
  }

  var count: Int { limit.map { min($0, total) } ?? total }

  /// Converts changes of the whole list to changes of its first rows. A row pushed beyond the limit is a deletion, a row that moves
  /// up from beyond it an insertion. O(changes).
  mutating func apply(_ changes: ChangeSet) -> ChangeSet {
    let before = count
    total += changes.insertions.count - changes.deletions.count
    let after = count
    if limit == nil { return changes }
    var result = ChangeSet()
    result.deletions = changes.deletions.filter { $0 < before }
    result.insertions = changes.insertions.filter { $0 < after }
    let stayed = before - result.deletions.count
    let staying = after - result.insertions.count
    if staying < stayed {
      result.deletions = RowWindow.lastRows(stayed - staying, below: before, besides: result.deletions)
    } else if staying > stayed {
      result.insertions = RowWindow.lastRows(staying - stayed, below: after, besides: result.insertions)
    }
    for (old, new) in zip(changes.modifications, changes.modificationsInNew) where old < before && new < after {
      result.modifications.append(old)
      result.modificationsInNew.append(new)
    }
    result.moves = changes.moves.filter { $0.from < before && $0.to < after }
    return result
  }

  /// `rows`, ascending, and the last `count` rows below `end` that are not among them.
  private static func lastRows(_ count: Int, below end: Int, besides rows: [Int]) -> [Int] {
    var result = rows[...]
    var tail: [Int] = []
    var (row, left) = (end - 1, count)
    while left > 0, row >= 0 {
      if result.last == row { result.removeLast() } else { left -= 1 }
      tail.append(row)
      row -= 1
    }
    return result + tail.reversed()
  }

  /// Changes the limit and returns the insertions or deletions.
  mutating func resize(to limit: Int?) -> ChangeSet {
    let before = count
    self.limit = limit.map { max($0, 0) }
    return count < before
      ? ChangeSet(deletions: Array(count..<before)) : ChangeSet(insertions: Array(before..<count))
  }
}
