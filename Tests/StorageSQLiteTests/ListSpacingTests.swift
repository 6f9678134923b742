import StorageSQLite
import Testing
import VivariumTestSupport

@Suite struct ListSpacingTests {
  @Test func appendedElementsAreAGapApart() {
    #expect(ListSpacing.plan([], insert: 2, at: 0) == .init(inserted: [0, ListSpacing.gap]))
    #expect(ListSpacing.plan([0], insert: 1, at: 1) == .init(inserted: [ListSpacing.gap]))
    #expect(ListSpacing.plan([0], insert: 1, at: 0) == .init(inserted: [-ListSpacing.gap]))
  }

  @Test func aGapIsHalvedUntilItIsUsedUpAndThenWidenedLocally() throws {
    var positions = (0..<1000).map { Int64($0) * ListSpacing.gap }
    var movedCount = 0
    for _ in 0..<10_000 {
      let plan = try #require(ListSpacing.plan(positions, insert: 1, at: 500))
      movedCount += plan.moved.count
      apply(plan, at: 500, to: &positions)
    }
    #expect(isAscending(positions))
    // 32 inserts use a gap up; then some neighbours move, not the list.
    #expect(movedCount < 10_000 * 64)
  }

  @Test func randomInsertsKeepTheOrder() throws {
    var random = SeededGenerator.forTest()
    var positions: [Int64] = []
    for _ in 0..<2000 {
      let at = random.oneIn(2) ? positions.count / 2 : random.below(positions.count + 1)
      let plan = try #require(ListSpacing.plan(positions, insert: 1 + random.below(5), at: at))
      apply(plan, at: at, to: &positions)
      #expect(isAscending(positions))
    }
  }

  @Test func positionsNearTheEndsOfTheIntegersAreSpreadOutAgain() throws {
    let positions = [Int64.max - 1, Int64.max]
    for at in 0...2 {
      var spread = positions
      let plan = try #require(ListSpacing.plan(positions, insert: 3, at: at))
      apply(plan, at: at, to: &spread)
      #expect(isAscending(spread) && spread.count == 5)
    }
  }

  private func apply(_ plan: ListSpacing.Plan, at index: Int, to positions: inout [Int64]) {
    positions.replaceSubrange(plan.moved, with: plan.movedTo)
    positions.insert(contentsOf: plan.inserted, at: index)
  }

  private func isAscending(_ positions: [Int64]) -> Bool { zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 } }
}
