import Testing
import VivariumTestSupport
@testable import ChangeTracker

@Suite struct ChangeSetTests {
  @Test func replayAppliesEachPart() {
    let set = ChangeSet(deletions: [0, 2], insertions: [1, 3], modifications: [1], modificationsInNew: [0])
    #expect(set.replay(["a", "b", "c", "d"], into: ["B", "x", "d", "y"]) == ["B", "x", "d", "y"])
  }

  @Test(arguments: [
    ChangeSet(deletions: [4]), ChangeSet(deletions: [1, 0]), ChangeSet(insertions: [0, 0]),
    ChangeSet(modifications: [1], modificationsInNew: []), ChangeSet(modifications: [9], modificationsInNew: [0]),
    ChangeSet(deletions: [0], insertions: [-1]),
  ])
  func replayRefusesPositionsThatDoNotFit(set: ChangeSet) {
    #expect(set.replay([1, 2, 3, 4], into: [1, 2, 3, 4]) == nil)
  }

  @Test func replayOfAWrongSetIsNotTheNewArray() {
    #expect(ChangeSet(deletions: [0], insertions: [0]).replay([1, 2, 3], into: [1, 3, 2]) != [1, 3, 2])
  }

  @Test func aRowThatPassesAnUntouchedOneMovesAlone() {
    let set = ChangeSet.between([1, 2, 3], [2, 3, 1], candidates: [1], modified: [1])
    #expect(set == ChangeSet(deletions: [0], insertions: [2], moves: [.init(from: 0, to: 2)]))
  }

  @Test func aTouchedRowThatStandsWhereItStoodIsAModification() {
    let set = ChangeSet.between([1, 2, 3], [1, 2, 3], candidates: [2], modified: [2])
    #expect(set == ChangeSet(modifications: [1], modificationsInNew: [1]))
  }

  @Test func aModificationIsGivenInOldAndNewPositions() {
    let set = ChangeSet.between([1, 2, 3], [9, 1, 3], candidates: [], modified: [3])
    #expect(set == ChangeSet(deletions: [1], insertions: [0], modifications: [2], modificationsInNew: [2]))
    let shifted = ChangeSet.between([1, 2, 3], [8, 9, 1, 2, 3], candidates: [], modified: [3])
    #expect(shifted == ChangeSet(insertions: [0, 1], modifications: [2], modificationsInNew: [4]))
  }

  /// Any rows leave, come, change and move; the rest is in the same order before and after.
  @Test func randomChangesGiveTheFewestMoves() {
    var random = SeededGenerator.forTest()
    for _ in 0..<2_000 {
      let all = (0..<Int64(random.below(14) + 1)).shuffled(using: &random)
      let old = all.filter { _ in !random.oneIn(4) }
      let reordered = Set(old.filter { _ in random.oneIn(2) })
      var new = old.filter { !reordered.contains($0) && !random.oneIn(5) }
      let arriving = all.filter { !old.contains($0) || (reordered.contains($0) && !random.oneIn(4)) }
      for key in arriving { new.insert(key, at: random.below(new.count + 1)) }
      let modified = Set(all.filter { _ in random.oneIn(2) })
      let set = ChangeSet.between(old, new, candidates: reordered, modified: modified)
      let oracle = ChangeSetOracle(old: old, new: new, modified: modified, reordered: reordered)
      #expect(oracle.fault(in: set) == nil, "\(old) \(new) \(set)")
    }
  }

  @Test func randomOrdersAreComparedWhole() {
    var random = SeededGenerator.forTest()
    for _ in 0..<500 {
      let all = (0..<Int64(random.below(20))).shuffled(using: &random)
      let old = all.filter { _ in !random.oneIn(4) }
      let new = all.shuffled(using: &random).filter { _ in !random.oneIn(4) }
      let set = ChangeSet.between(old, new, modified: Set(all.prefix(5)))
      #expect(set.replay(old, into: new) == new)
    }
  }

  /// Nobody can tell two rows of one object apart: the one that stands where rows went is not one that moved.
  @Test func ofTwoRowsOfAnObjectTheOneThatWentIsDeleted() {
    let set = ChangeSet.between(repeating: [1, 2, 1], [2, 1], modified: [])
    #expect(set.deletions == [0] && set.insertions.isEmpty && set.moves.isEmpty)
    let more = ChangeSet.between(repeating: [1, 2], [1, 2, 1, 1], modified: [1])
    #expect(more.deletions.isEmpty && more.insertions == [2, 3] && more.modifications == [0])
    let neighbours = ChangeSet.between(repeating: [5, 5, 5], [5], modified: [])
    #expect(neighbours.deletions == [1, 2] && neighbours.insertions.isEmpty)
    let moved = ChangeSet.between(repeating: [1, 1, 2, 3], [2, 3, 1, 1], modified: [])
    #expect(moved.deletions == [2, 3] && moved.insertions == [0, 1] && moved.moves.count == 2)
  }

  /// Each block that is found leaves its sides to be looked through again: with as many blocks as rows that is their square.
  @Test func veryManySmallBlocksAreNotLookedThroughToTheEnd() {
    // Every other row is of another object.
    func rows(_ count: Int64, other: Int64) -> [Int64] {
      var rows: [Int64] = [1]
      for i in 1...count { rows += [i * 3 - 1, i * 3 + other] }
      return rows + [1]
    }
    #expect(RepeatedRows(rows(500, other: 0), rows(500, other: 1)) != nil)
    let (old, new) = (rows(9_000, other: 0), rows(9_000, other: 1))
    #expect(RepeatedRows(old, new) == nil)
    let set = ChangeSet.between(repeating: old, new, modified: [1, 5])
    let replaced = (1...9_000).map { $0 * 2 }
    #expect(set.deletions == replaced && set.insertions == replaced && set.moves.isEmpty)
    #expect(set.replay(old, into: new) == new && set.modifications == [0, 3, 18_001])
  }

  @Test func randomRowsOfFewObjectsReplay() {
    var random = SeededGenerator.forTest()
    for round in 0..<1_000 {
      // The last ones are too many to be looked through.
      let count = round < 998 ? 14 : 400
      let old = (0..<random.below(count)).map { _ in Int64(random.below(5) + 1) }
      var new = old.filter { _ in !random.oneIn(4) }
      for _ in 0..<random.below(4) { new.insert(Int64(random.below(6) + 1), at: random.below(new.count + 1)) }
      let modified = Set((0..<2).map { _ in Int64(random.below(6) + 1) })
      let set = ChangeSet.between(repeating: old, new, modified: modified)
      #expect(set.replay(old, into: new) == new, "\(old) \(new) \(set)")
      for (before, after) in zip(set.modifications, set.modificationsInNew) { #expect(old[before] == new[after]) }
      // Every row of a modified object that neither came nor went is told.
      let stayed = old.indices.filter { modified.contains(old[$0]) && !set.deletions.contains($0) }
      #expect(set.modifications == stayed, "\(old) \(new) \(set)")
    }
  }

  @Test func largeCollectionsAreComparedByTheLongestRun() {
    let old = Array(Int64(0)..<5_000)
    var new = old
    new.swapAt(10, 4_000)
    let set = ChangeSet.between(old, new, modified: [])
    #expect(set.deletions == [10, 4_000])
    #expect(set.insertions == [10, 4_000])
  }

  @Test func theLongestRunIsLongest() {
    var random = SeededGenerator.forTest()
    #expect(IncreasingRun.longest([]) == [])
    for _ in 0..<500 {
      let values = (0..<random.below(12)).map { $0 }.shuffled(using: &random)
      let run = IncreasingRun.longest(values)
      #expect(zip(run, run.dropFirst()).allSatisfy { $0 < $1 && values[$0] < values[$1] })
      var best = [Int](repeating: 1, count: values.count)
      for i in values.indices { for j in 0..<i where values[j] < values[i] { best[i] = max(best[i], best[j] + 1) } }
      #expect(run.count == best.max() ?? 0)
    }
  }
}
