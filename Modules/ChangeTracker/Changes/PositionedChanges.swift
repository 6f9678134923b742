/// The changed rows between two states of a collection, with their positions, before it is decided which rows with a new sort
/// key stay in place.
struct PositionedChanges: Sendable {
  /// A row that is removed at its old position.
  struct Removed: Sendable {
    var position: Int
    /// The caller's index of the row.
    var row: Int
    /// The row's index in `inserted`, if it is in both states; -1 otherwise.
    var partner = -1
  }

  /// A row that is inserted at its new position.
  struct Inserted: Sendable {
    var position: Int
    var row: Int
  }

  /// A row with an unchanged sort key.
  struct Kept: Sendable {
    var old: Int
    var new: Int
    var row: Int
  }

  /// Ascending by position, like the next two.
  var removed: [Removed] = []
  var inserted: [Inserted] = []
  var kept: [Kept] = []

  var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && kept.isEmpty }
}

extension PositionedChanges {
  /// Decides which rows moved, and returns the change set. Of the rows with a new sort key, as many as possible stay without
  /// moving an untouched row; these and the kept rows are modifications if `isModified` says so. O(k log k). With `stays` false
  /// all of them move, because that was already decided.
  func changeSet(stays mayStay: Bool = true, _ isModified: (Int) -> Bool) -> ChangeSet {
    let stays = mayStay ? stayingRows() : nil
    var result = ChangeSet()
    var next = 0
    for (j, row) in removed.enumerated() {
      guard let stays, stays.removed[j] else {
        result.deletions.append(row.position)
        if row.partner >= 0 {
          result.moves.append(ChangeSet.Move(from: row.position, to: inserted[row.partner].position))
        }
        continue
      }
      guard isModified(row.row) else { continue }
      while next < kept.count, kept[next].old < row.position {
        result.add(kept[next], isModified)
        next += 1
      }
      result.modifications.append(row.position)
      result.modificationsInNew.append(inserted[row.partner].position)
    }
    for row in kept[next...] { result.add(row, isModified) }
    for (i, row) in inserted.enumerated() where stays?.inserted[i] != true {
      result.insertions.append(row.position)
    }
    return result
  }

  /// Flags in `removed` and `inserted` for the rows that stay; nil if there are none.
  ///
  /// A row can stay if it is in the same gap between untouched rows before and after: the number of untouched rows before it is
  /// `position - index` in both lists. Of those rows, the longest subsequence that is ascending in both orders stays; gaps
  /// ascend by themselves, so one subsequence over all of them is optimal in each.
  private func stayingRows() -> (removed: [Bool], inserted: [Bool])? {
    let candidates = removed.indices.filter { j in
      let row = removed[j]
      return row.partner >= 0 && row.position - j == inserted[row.partner].position - row.partner
    }
    if candidates.isEmpty { return nil }
    var stays = (
      removed: [Bool](repeating: false, count: removed.count),
      inserted: [Bool](repeating: false, count: inserted.count)
    )
    for i in IncreasingRun.longest(candidates.map { removed[$0].partner }) {
      stays.removed[candidates[i]] = true
      stays.inserted[removed[candidates[i]].partner] = true
    }
    return stays
  }
}

extension ChangeSet {
  fileprivate mutating func add(_ row: PositionedChanges.Kept, _ isModified: (Int) -> Bool) {
    guard isModified(row.row) else { return }
    modifications.append(row.old)
    modificationsInNew.append(row.new)
  }
}

/// The longest strictly increasing subsequence.
enum IncreasingRun {
  /// The indices of its elements, ascending. O(n log n).
  static func longest(_ values: [Int]) -> [Int] {
    // tails[l]: the index of the smallest value that ends a run of l + 1 values.
    // before[i]: the index before i in its run.
    var tails: [Int] = []
    var before = [Int](repeating: -1, count: values.count)
    for (i, value) in values.enumerated() {
      var low = 0
      var high = tails.count
      while low < high {
        let middle = (low + high) / 2
        if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[i] = tails[low - 1] }
      if low == tails.count { tails.append(i) } else { tails[low] = i }
    }
    var run: [Int] = []
    var last = tails.last ?? -1
    while last >= 0 {
      run.append(last)
      last = before[last]
    }
    return run.reversed()
  }
}
