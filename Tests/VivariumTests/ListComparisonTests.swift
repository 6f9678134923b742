import Testing
import VivariumTestSupport

@testable import Vivarium

/// How the observer of a list property learns what kind of change there was.
@Suite struct ListComparisonTests {
  /// Few different elements, so that many are equal.
  private func list(_ random: inout SeededGenerator, _ variety: Int) -> [Int] {
    let count = random.below(9)
    return (0..<count).map { _ in random.below(variety) }
  }

  /// Another list, or the same with elements inserted or removed: unrelated lists are rarely so close.
  private func successor(of old: [Int], _ random: inout SeededGenerator, _ variety: Int) -> [Int] {
    let kind = random.below(4)
    if kind == 0 { return list(&random, variety) }
    var new = old
    for _ in 0..<random.below(5) {
      // The last kind does both.
      if kind == 1 || (kind == 3 && random.oneIn(2)) {
        new.insert(random.below(variety), at: random.below(new.count + 1))
      } else if !new.isEmpty {
        new.remove(at: random.below(new.count))
      }
    }
    return new
  }

  private func without(_ positions: [Int], _ list: [Int]) -> [Int] {
    list.indices.filter { !positions.contains($0) }.map { list[$0] }
  }

  /// Among equal elements the positions are a matter of choice, but they lead from the one list to the other.
  @Test(arguments: [2, 4, 50]) func theKindIsThatOfTheShortestEditAndThePositionsLeadToTheNewList(variety: Int) {
    var random = SeededGenerator.forTest()
    for _ in 0..<3_000 {
      let old = list(&random, variety)
      let new = successor(of: old, &random, variety)
      let (kind, positions) = PropertyObserver.compare(old, new)
      if old.count == new.count {
        #expect(kind == .replacement && positions == new.indices.filter { old[$0] != new[$0] }, "\(old) to \(new)")
        continue
      }
      let edit = new.difference(from: old)
      let shortest: PropertyObserver.Kind =
        edit.removals.isEmpty ? .insertion : edit.insertions.isEmpty ? .removal : .setting
      #expect(kind == shortest && positions == Set(positions).sorted(), "\(old) to \(new)")
      switch kind {
      case .insertion: #expect(without(positions, new) == old, "\(old) to \(new)")
      case .removal: #expect(without(positions, old) == new, "\(old) to \(new)")
      case .setting, .replacement: #expect(positions.isEmpty, "\(old) to \(new)")
      }
    }
  }
}
