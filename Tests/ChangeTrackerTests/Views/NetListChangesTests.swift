import ChangeTracker
import StorageInterface
import Testing
import VivariumTestSupport

@Suite struct NetListChangesTests {
  private func changeSet(_ count: Int, _ edits: ListChange.Edit...) -> ChangeSet {
    var net = NetListChanges(count: count)
    for edit in edits { net.add(edit) }
    return net.changeSet()
  }

  @Test func eachEditIsWhatItSays() {
    #expect(changeSet(3, .insert(at: 1, count: 2)) == ChangeSet(insertions: [1, 2]))
    #expect(changeSet(3, .remove(1..<3)) == ChangeSet(deletions: [1, 2]))
    #expect(changeSet(3, .set(at: 2)) == ChangeSet(modifications: [2], modificationsInNew: [2]))
    #expect(
      changeSet(3, .move(from: 0, to: 2)) == ChangeSet(deletions: [0], insertions: [2], moves: [.init(from: 0, to: 2)]))
    #expect(changeSet(2, .clear) == ChangeSet(deletions: [0, 1]))
  }

  @Test func aListThatGrowsOneByOneStaysOnePiece() {
    var net = NetListChanges(count: 3)
    for i in 3..<1_003 { net.add(.insert(at: i, count: 1)) }
    #expect(net.pieceCount == 2)
    for _ in 0..<1_000 { net.add(.insert(at: 0, count: 1)) }
    #expect(net.pieceCount == 3)
    // In the middle of what is new.
    for i in 0..<500 { net.add(.insert(at: 2 * i + 1, count: 1)) }
    #expect(net.pieceCount == 3)
    #expect(net.changeSet() == ChangeSet(insertions: Array(0..<1_500) + Array(1_503..<2_503)))
    // What was told of an element stays its own.
    net.add(.set(at: 1_600))
    net.add(.insert(at: 1_601, count: 1))
    #expect(net.changeSet().insertions.count == 2_501 && net.changeSet().modifications.isEmpty)
  }

  @Test func manyEditsThatAscendCostTheirNumber() {
    let count = 10_000
    var all = NetListChanges(count: count)
    for i in 0..<count { all.add(.set(at: i)) }
    #expect(all.pieceCount == 1 && all.steps < 8 * count)
    #expect(all.changeSet().modifications == Array(0..<count))
    for i in 0..<count { all.add(.set(at: i)) }
    #expect(all.pieceCount == 1 && all.steps < 16 * count)
    var some = NetListChanges(count: count)
    for i in stride(from: 1, to: count, by: 2) { some.add(.set(at: i)) }
    #expect(some.steps < 8 * count && some.changeSet().modifications == Array(stride(from: 1, to: count, by: 2)))
    var fewer = NetListChanges(count: count)
    for i in 0..<count / 2 { fewer.add(.remove(i..<i + 1)) }
    #expect(fewer.steps < 8 * count && fewer.changeSet().deletions == Array(stride(from: 0, to: count, by: 2)))
    var more = NetListChanges(count: count)
    for i in 0..<count { more.add(.insert(at: 2 * i, count: 1)) }
    #expect(more.steps < 8 * count && more.changeSet().insertions == Array(stride(from: 0, to: 2 * count, by: 2)))
  }

  @Test func editsOfADamagedRecordAreCutOffAndSeenThrough() {
    var net = NetListChanges(count: 5)
    for _ in 0..<50_000 { net.add(.insert(at: 0, count: Int.max / 2)) }
    #expect(net.count == 1 << 48 && !net.isEmpty)
    #expect(!net.canLead(to: 5) && net.canLead(to: 1 << 48))
    #expect(net.changeSet(replacedBy: 2) == ChangeSet(deletions: [0, 1, 2, 3, 4], insertions: [0, 1]))
    net.add(.move(from: 1 << 47, to: 3))
    net.add(.set(at: .max))
    net.add(.remove(2..<Int.max))
    #expect(net.count == 2)
    net.add(.clear)
    #expect(net.changeSet() == ChangeSet(deletions: [0, 1, 2, 3, 4]))
    let skipped = NetListChanges(count: 5).skipping([ListChange.Edit](repeating: .insert(at: 2, count: Int.max), count: 40))
    #expect(skipped.count == 1 << 48 && skipped.canLead(to: 1 << 48))
    #expect(NetListChanges(count: .max).count == 1 << 48)
  }

  @Test func editsThatUndoEachOtherAreNothing() {
    #expect(changeSet(3, .insert(at: 1, count: 2), .remove(1..<3)).isEmpty)
    #expect(changeSet(3, .move(from: 0, to: 2), .move(from: 2, to: 0)).isEmpty)
  }

  @Test func aMovedNewElementIsAnInsertionAndAMovedAndRemovedOneADeletion() {
    #expect(changeSet(3, .insert(at: 0, count: 1), .move(from: 0, to: 3)) == ChangeSet(insertions: [3]))
    #expect(changeSet(3, .move(from: 0, to: 2), .remove(2..<3)) == ChangeSet(deletions: [0]))
  }

  @Test func aSetElementShiftsWithItsNeighbours() {
    let set = changeSet(4, .set(at: 2), .insert(at: 0, count: 3), .remove(3..<4))
    #expect(set == ChangeSet(deletions: [0], insertions: [0, 1, 2], modifications: [2], modificationsInNew: [4]))
  }

  @Test func aBulkInsertionIsOnePieceOfWork() {
    var net = NetListChanges(count: 1_000_000)
    for _ in 0..<100 { net.add(.insert(at: 500_000, count: 1_000)) }
    net.add(.remove(500_000..<599_000))
    #expect(net.changeSet() == ChangeSet(insertions: Array(500_000..<501_000)))
  }

  @Test func positionsThatDoNotExistAreCutOff() {
    #expect(changeSet(2, .remove(1..<9), .set(at: 7), .move(from: 5, to: 0), .insert(at: 9, count: 1))
      == ChangeSet(deletions: [1], insertions: [1]))
  }

  /// Equal elements everywhere: the oracle gives each element a number that the edits carry along.
  @Test func randomEditsReplayWithTheFewestMoves() {
    var random = SeededGenerator.forTest()
    for _ in 0..<2_000 {
      let old = (0..<Int64(random.below(9))).map { $0 }
      var new = old
      var net = NetListChanges(count: old.count)
      var next: Int64 = 100
      var (moved, modified): (Set<Int64>, Set<Int64>) = ([], [])
      for _ in 0..<random.below(8) {
        let edit: ListChange.Edit
        switch random.below(new.isEmpty ? 1 : 6) {
        case 0, 1:
          let (at, count) = (random.below(new.count + 1), random.below(3))
          new.insert(contentsOf: next..<next + Int64(count), at: at)
          next += Int64(count)
          edit = .insert(at: at, count: count)
        case 2:
          let at = random.below(new.count)
          let range = at..<min(new.count, at + 1 + random.below(2))
          new.removeSubrange(range)
          edit = .remove(range)
        case 3:
          let at = random.below(new.count)
          modified.insert(new[at])
          edit = .set(at: at)
        default:
          let (from, to) = (random.below(new.count), random.below(new.count))
          let element = new.remove(at: from)
          new.insert(element, at: to)
          if from != to { moved.insert(element) }
          edit = .move(from: from, to: to)
        }
        net.add(edit)
      }
      #expect(net.count == new.count)
      let oracle = ChangeSetOracle(old: old, new: new, modified: modified, reordered: moved)
      #expect(oracle.fault(in: net.changeSet()) == nil, "\(old) to \(new) by \(net.changeSet())")
    }
  }
}
