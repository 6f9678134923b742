/// What changed between two states of a collection, as positions: what a table view needs to animate.
///
/// Deletions and modifications count in the old collection, insertions in the new one; each is ascending and
/// without duplicates, and no position is in two of deletions and modifications. A row that changed its place
/// is a deletion and an insertion, and the pair is in `moves`; such a row is never also a modification. Rows that
/// nobody touched are never reported, and of those that were, as few as possible are moved.
public struct ChangeSet: Sendable, Hashable {
  /// A row that stands elsewhere now.
  public struct Move: Sendable, Hashable {
    /// In the old collection; also one of the deletions.
    public var from: Int
    /// In the new collection; also one of the insertions.
    public var to: Int

    /// A row that went from one position to another.
    public init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  /// Old positions of rows that are gone, or moved away.
  public var deletions: [Int]
  /// New positions of rows that came, or moved here.
  public var insertions: [Int]
  /// Old positions of rows that stayed and have other values.
  public var modifications: [Int]
  /// The same rows as `modifications`, in the same order, as new positions.
  public var modificationsInNew: [Int]
  /// Ascending by `from`.
  public var moves: [Move]

  /// As its parts say; nothing checks that they fit each other.
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

  /// Whether nothing changed. Moves are deletions and insertions, and so are not looked at.
  public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

extension ChangeSet {
  /// The old collection brought to the new one by the steps a table view takes: remove the deletions, put in the
  /// insertions, reload the modifications. Nil when the positions do not fit the two, which a change set between
  /// them never does. O(old + new).
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
