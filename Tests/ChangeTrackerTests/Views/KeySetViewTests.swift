import StoreValues
import Testing
import VivariumTestSupport
@testable import ChangeTracker

@Suite struct KeySetViewTests {
  /// Near, far and very far keys: one leaf, one directory, several levels.
  @Test(arguments: [Int64(300), 70_000, 5_000_000, Int64.max])
  func randomEditsAgreeWithASortedArray(range: Int64) {
    var random = SeededGenerator.forTest()
    let start = Set((0..<200).map { _ in Int64.random(in: 1...range, using: &random) }).sorted()
    let view = KeySetView(start)
    var model = start
    var held: [(version: KeySetVersion, keys: [Int64])] = [(view.latest, model)]
    for step in 0..<600 {
      let growing = (step / 150) % 2 == 0
      if model.isEmpty || random.below(10) < (growing ? 7 : 3) {
        let key = Int64.random(in: 1...range, using: &random)
        let position = model.firstIndex { $0 >= key } ?? model.count
        if position < model.count, model[position] == key {
          #expect(view.insert(key) == nil)
        } else {
          #expect(view.insert(key) == position)
          model.insert(key, at: position)
        }
      } else {
        let position = random.below(model.count)
        #expect(view.remove(model.remove(at: position)) == position)
      }
      if random.oneIn(4) { held.append((view.publish(), model)) }
      if random.oneIn(5), held.count > 1 { held.remove(at: random.below(held.count)) }
    }
    held.append((view.publish(), model))
    for (version, keys) in held {
      var all: [Int64] = []
      version.forEach { all.append($0) }
      #expect(all == keys)
      #expect(version.keys(in: 0..<Int.max) == keys)
      #expect(keys.indices.allSatisfy { version.rank(of: keys[$0]) == ($0, true) })
      let probe = Int64.random(in: 1...range, using: &random)
      #expect(version.rank(of: probe).position == keys.count { $0 < probe })
    }
    view.reclaim()
    #expect(ViewNodeAudit.reachable(view.pool, from: held.map(\.version.root) + [view.pool.root]) == view.nodesInUse)
    while let last = model.popLast() { #expect(view.remove(last) == model.count) }
    held = []
    view.publish()
    view.reclaim()
    #expect(view.nodesInUse == 0)
  }

  @Test func denseRowsCostLessThanAByteAndSparseOnesGoToTheTree() {
    let dense = Array(Int64(1)...100_000)
    #expect(KeySetView(dense).bytesInUse < 30_000)
    #expect(KeySetView.suits(dense))
    let sparse = (1...1_000).map { Int64($0) * 10_000 }
    #expect(!KeySetView.suits(sparse))
    #expect(ResultView.byKey(sparse).bytesInUse < 25_000)
  }

  @Test func rollingBackGivesTheVersionBeforeAndEveryNode() {
    let view = KeySetView(Array(1...10_000))
    let nodes = view.nodesInUse
    for key in stride(from: Int64(1), to: 10_000, by: 3) { _ = view.remove(key) }
    _ = view.insert(1 << 40)
    view.rollBack()
    #expect(view.count == 10_000)
    #expect(view.nodesInUse == nodes)
    #expect(view.publish().keys(in: 0..<20_000) == Array(1...10_000))
  }
}
