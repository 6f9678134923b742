import StoreValues
import Testing
import VivariumTestSupport
@testable import ChangeTracker

@Suite struct NetChangesWalkTests {
  /// Many pending rows are found by going through both versions; the outcome is that of looking each up.
  @Test func walkingAndLookingUpGiveTheSamePositions() throws {
    var random = SeededGenerator.forTest()
    for count in [1_500, 3_000] {
      var places: [UInt64?] = (0..<count).map { _ in random.oneIn(5) ? nil : random.next() % 50 }
      func row(_ i: Int) -> OrderedRow? { places[i].map { OrderedRow(prefix: $0, key: Int64(i) + 1_000_000) } }
      let view = ResultView.sorted((0..<count).compactMap { row($0)?.entry }.sorted())
      let base = view.latest
      var net = NetChanges(base: base)
      for _ in 0..<3 {
        let changes = (0..<count).shuffled(using: &random).prefix(count * 2 / 3).map { i in
          let old = row(i)
          if !random.oneIn(3) { places[i] = random.oneIn(5) ? nil : random.next() % 50 }
          return RowChange(key: Int64(i) + 1_000_000, old: old, new: row(i), marks: RowMarks())
        }
        net.add(try view.apply(changes))
      }
      guard case .sorted(let old) = base, case .sorted(let new) = view.latest else { return }
      let walked = try #require(net.settled.walkedPositions(from: old, to: new)).changeSet()
      #expect(try walked == net.settled.rankedPositions(to: view.latest, nil).changeSet())
      #expect(try walked == net.changeSet(to: view.latest))
      #expect(walked.replay(base.allKeys, into: view.latest.allKeys) == view.latest.allKeys)
    }
  }

  @Test func keysThatLieFarApartAreLookedUp() throws {
    let keys = (1...1_200).map { Int64($0) << 40 }
    let view = ResultView.sorted(keys.map { ViewEntry(prefix: 1, key: $0) })
    var net = NetChanges(base: view.latest)
    net.add(
      try view.apply(
        keys.map { key in
          RowChange(key: key, old: OrderedRow(prefix: 1, key: key), new: nil, marks: RowMarks())
        }))
    net.add(try view.apply([RowChange(key: 5, old: nil, new: OrderedRow(prefix: 0, key: 5), marks: RowMarks())]))
    #expect(try net.changeSet(to: view.latest) == ChangeSet(deletions: Array(0..<1_200), insertions: [0]))
  }
}
