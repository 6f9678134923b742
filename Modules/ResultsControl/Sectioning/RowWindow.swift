import ChangeTracker

/// The first rows of a list, as many as are wanted, so that a list can be shown page by page.
struct RowWindow {
  /// How many rows are wanted; nil: all.
  private(set) var limit: Int?
  /// How many rows the whole list has.
  private(set) var total: Int

  init(limit: Int?, total: Int) {
    self.limit = limit.map { max($0, 0) }
    self.total = total
  }

  var count: Int { limit.map { min($0, total) } ?? total }

  /// Changes of the whole list as changes of its first rows. What is pushed over the edge is a deletion, what slides in from
  /// beyond an insertion. O(changes).
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

  /// Wants more rows, or fewer: what comes and what goes.
  mutating func resize(to limit: Int?) -> ChangeSet {
    let before = count
    self.limit = limit.map { max($0, 0) }
    return count < before
      ? ChangeSet(deletions: Array(count..<before)) : ChangeSet(insertions: Array(before..<count))
  }
}
