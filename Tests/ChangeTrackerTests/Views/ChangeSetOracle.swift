import ChangeTracker

/// What a change set must be, worked out the slow way from the two arrays.
struct ChangeSetOracle {
  let old: [Int64]
  let new: [Int64]
  /// Keys of rows that are to be reported as modified, if they are in both and do not move; nil: not known.
  let modified: Set<Int64>?
  /// Keys of rows that may have another place in the order: only they may move.
  let reordered: Set<Int64>

  /// What is wrong with a change set; nil when it is exactly right.
  func fault(in set: ChangeSet) -> String? {
    guard set.replay(old, into: new) == new else { return "does not replay" }
    let (before, after) = (Set(old), Set(new))
    let deleted = Set(set.deletions.map { old[$0] })
    let inserted = Set(set.insertions.map { new[$0] })
    if !deleted.isDisjoint(with: set.modifications.map { old[$0] }) { return "a deletion is also a modification" }
    if !before.subtracting(after).isSubset(of: deleted) { return "a lost row is not deleted" }
    if !after.subtracting(before).isSubset(of: inserted) { return "a new row is not inserted" }
    let moved = deleted.intersection(after)
    if moved != inserted.intersection(before) { return "a moved row is only deleted or only inserted" }
    if !moved.isSubset(of: reordered) { return "an untouched row moved" }
    if set.moves.map({ old[$0.from] }) != set.moves.map({ new[$0.to] }) { return "a move joins two rows" }
    if Set(set.moves.map { old[$0.from] }) != moved || set.moves.count != moved.count {
      return "moves are not the moved rows"
    }
    let changed = set.modifications.map { old[$0] }
    if changed != set.modificationsInNew.map({ new[$0] }) { return "old and new modifications differ" }
    if let modified, Set(changed) != modified.intersection(before).intersection(after).subtracting(moved) {
      return "wrong modifications"
    }
    if moved.count != movesMin { return "\(moved.count) moves where \(movesMin) do" }
    return nil
  }

  /// Rows in both arrays less the heaviest common subsequence, in which every row that may not move must be. O(n²).
  private var movesMin: Int {
    let inNew = Set(new)
    let both = old.filter { inNew.contains($0) }
    var places: [Int64: Int] = [:]
    for (i, key) in new.enumerated() { places[key] = i }
    let weights = both.map { reordered.contains($0) ? 1 : 10_000 }
    var best = weights
    for i in both.indices {
      for j in 0..<i where places[both[j], default: 0] < places[both[i], default: 0] {
        best[i] = max(best[i], best[j] + weights[i])
      }
    }
    return weights.reduce(0, +) - (best.max() ?? 0)
  }
}
