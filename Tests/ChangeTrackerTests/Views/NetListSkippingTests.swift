import ChangeTracker
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

/// Edits of a list of which an observer is not told, while others wait to be told.
@Suite struct NetListSkippingTests {
  private func changes(_ count: Int, _ edits: [ListChange.Edit], skipping skipped: [ListChange.Edit]) -> ChangeSet {
    var net = NetListChanges(count: count)
    for edit in edits { net.add(edit) }
    return net.skipping(skipped).changeSet()
  }

  @Test func whatWaitsLeadsOnFromWhatIsKnown() {
    // a b c; a d comes at the end and waits; a goes, and the observer knows that.
    #expect(changes(3, [.insert(at: 3, count: 1)], skipping: [.remove(0..<1)]) == ChangeSet(insertions: [2]))
    // b goes and waits; something known comes at the front.
    #expect(changes(3, [.remove(1..<2)], skipping: [.insert(at: 0, count: 2)]) == ChangeSet(deletions: [3]))
    // Nothing waits: nothing is told.
    #expect(changes(3, [], skipping: [.remove(0..<2), .insert(at: 1, count: 4), .move(from: 0, to: 2)]).isEmpty)
  }

  @Test func whatAKnownEditTouchesIsKnownAsItLeftIt() {
    #expect(changes(3, [.set(at: 1)], skipping: [.set(at: 1)]).isEmpty)
    #expect(changes(3, [.set(at: 1)], skipping: [.set(at: 0)]) == ChangeSet(modifications: [1], modificationsInNew: [1]))
    // What came and is gone again was never told.
    #expect(changes(3, [.insert(at: 1, count: 1)], skipping: [.remove(1..<2)]).isEmpty)
    // It moved, and was taken away or moved once more.
    #expect(changes(3, [.move(from: 0, to: 2)], skipping: [.remove(2..<3)]).isEmpty)
    #expect(changes(4, [.move(from: 0, to: 3)], skipping: [.move(from: 3, to: 1)]).isEmpty)
    #expect(changes(3, [.remove(0..<1), .insert(at: 0, count: 1)], skipping: [.clear]) == ChangeSet(deletions: [0]))
  }

  /// Every element has a number here: what is told as new is what the observer does not know, and what is told as gone what
  /// it knew.
  @Test func randomEditsAreToldExactlyAroundThoseThatAreKnown() {
    var random = SeededGenerator.forTest()
    for _ in 0..<3_000 {
      var now = Array(0..<random.below(8))
      var net = NetListChanges(count: now.count)
      var known = Set(now)
      var next = 100
      var edits: [ListChange.Edit] = []
      func edit(_ isKnown: Bool) {
        edits = []
        for _ in 0..<random.below(5) {
          switch random.below(now.isEmpty ? 1 : 5) {
          case 0:
            let (at, count) = (random.below(now.count + 1), 1 + random.below(2))
            let new = next..<next + count
            next += count
            now.insert(contentsOf: new, at: at)
            if isKnown { known.formUnion(new) }
            edits.append(.insert(at: at, count: count))
          case 1, 2:
            let at = random.below(now.count)
            let range = at..<min(now.count, at + 1 + random.below(2))
            if isKnown { known.subtract(now[range]) }
            now.removeSubrange(range)
            edits.append(.remove(range))
          case 3: edits.append(.set(at: random.below(now.count)))
          default:
            let (from, to) = (random.below(now.count), random.below(now.count))
            now.insert(now.remove(at: from), at: to)
            edits.append(.move(from: from, to: to))
          }
        }
      }
      edit(false)
      for edit in edits { net.add(edit) }
      edit(true)
      net = net.skipping(edits)
      edit(false)
      for edit in edits { net.add(edit) }
      let told = net.changeSet()
      let moved = Set(told.moves.map(\.to))
      #expect(net.count == now.count)
      #expect(Set(told.insertions.filter { !moved.contains($0) }.map { now[$0] }) == Set(now).subtracting(known))
      #expect(told.deletions.count - told.moves.count == known.subtracting(now).count)
      #expect(known.count - told.deletions.count + told.insertions.count == now.count)
      #expect(told.deletions.allSatisfy { $0 >= 0 && $0 < known.count })
    }
  }

  @Test func membersThatAreKnownAreNotTold() {
    var net = NetMemberChanges(count: 2, isMap: false)
    net.add(MemberChange(.int(1), .inserted))
    net.add(MemberChange(.int(2), .inserted))
    net.skip(MemberChange(.int(1), .removed))
    net.skip(MemberChange(.int(3), .inserted))
    #expect(!net.isEmpty)
    net.skip(MemberChange(.int(2), .modified))
    #expect(net.isEmpty)
  }
}
