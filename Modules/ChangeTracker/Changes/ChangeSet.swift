/// The changes between two states of a collection, as positions: the form a table view needs for animation.
///
/// Deletions and modifications are positions in the old collection, insertions in the new one; each list is ascending without
/// duplicates, and deletions and modifications are disjoint. A row that moved is a deletion and an insertion, paired in
/// `moves`, and is never also a modification. Untouched rows are never reported, and as few of the touched ones as possible are
/// moved.
public struct ChangeSet: Sendable, Hashable {
  /// A row that moved.
  public struct Move: Sendable, Hashable {
    /// In the old collection; also one of the deletions.
    public var from: Int
    /// In the new collection; also one of the insertions.
    public var to: Int

    /// A row that moved from one position to another.
    public init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  /// Old positions of rows that were deleted or moved away.
  public var deletions: [Int]
  /// New positions of rows that were inserted or moved here.
  public var insertions: [Int]
  /// Old positions of rows that stayed and have changed values.
  public var modifications: [Int]
  /// The same rows as `modifications`, in the same order, as new positions.
  public var modificationsInNew: [Int]
  /// Ascending by `from`.
  public var moves: [Move]

  /// Creates a change set from its parts, without validating them.
  public init(
    deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = [], modificationsInNew: [Int] = [],
    moves: [Move] = []
  ) {
    self.deletions = deletions
    self.insertions = insertions
    self.modifications = modifications
    self.modificationsInNew = modificationsInNew
    self.moves = moves
  }

  /// Whether nothing changed. Moves are included in deletions and insertions.
  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

extension ChangeSet {
  /// Transforms the old collection into the new one by the steps of a table view: removes the deletions, inserts the
  /// insertions, reloads the modifications. Nil if the positions do not fit the two, which never happens for a change set
  /// between them. O(old + new).
  public func replay<Element>(_ old: [Element], into new: [Element]) -> [Element]? {
    guard old.count - deletions.count + insertions.count == new.count else { return nil }
    guard modifications.count == modificationsInNew.count else { return nil }
    guard ChangeSet.isAscending(deletions, below: old.count), ChangeSet.isAscending(insertions, below: new.count),
      ChangeSet.isAscending(modifications, below: old.count),
      ChangeSet.isAscending(modificationsInNew, below: new.count)
    else { return nil }
    var result: [Element] = []
    result.reserveCapacity(new.count)
    var (deletion, insertion) = (0, 0)
    func putInsertions() {
      while insertion < insertions.count, insertions[insertion] == result.count {
        result.append(new[result.count])
        insertion += 1
      }
    }
    for (position, element) in old.enumerated() {
      if deletion < deletions.count, deletions[deletion] == position {
        deletion += 1
        continue
      }
      putInsertions()
      result.append(element)
    }
    putInsertions()
    guard insertion == insertions.count, result.count == new.count else { return nil }
    for position in modificationsInNew { result[position] = new[position] }
    return result
  }

  private static func isAscending(_ positions: [Int], below limit: Int) -> Bool {
    var least = 0
    for position in positions {
      if position < least || position >= limit { return false }
      least = position + 1
    }
    return true
  }
}
