import StoreReactive
import Testing
import Vivarium
import VivariumTestSupport

/// A synchronous start while somebody else writes: whatever falls between the first value and the first turn, applying the
/// change sets to the first value gives what is there in the end. `VIVARIUM_START_RACES` says how often.
@Suite struct SynchronousStartTests {
  @Test func nothingIsLostOrToldTwiceInARace() throws {
    let configuration = makeConfiguration()
    let keeper = try Store(configuration, isolation: nil)
    var random = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_START_RACES", default: 300) {
      let store = try Store(configuration, isolation: nil)
      let seed = random.next()
      let written = onThread {
        var random = SeededGenerator(seed: seed)
        do {
          let store = try Store(configuration, isolation: nil)
          for _ in 0..<2 { try store.write { try edit(store, &random) } }
        } catch { Issue.record(error) }
      }
      var shown: [String] = []
      let stream = Live.arrayWithChangeset(from: store.objects(Lap.self).sorted(by: \.number))
        .sink(receiveCompletion: { _ in }) { laps, changes in
          let now = laps.map { "\($0.number) \($0.time)" }
          if let changes { shown = replay(shown, changes, now) } else { shown = now }
        }
      #expect(written.wait())
      while store.refresh() {}
      keeper.refresh()
      #expect(shown == keeper.objects(Lap.self).sorted(by: \.number).map { "\($0.number) \($0.time)" })
      stream.cancel()
    }
  }
}

@Sendable private func edit(_ store: Store, _ random: inout SeededGenerator) throws {
  for _ in 0..<3 {
    let number = random.below(20)
    if let lap = store.object(Lap.self, forPrimaryKey: number) {
      if random.oneIn(2) { try store.delete(lap) } else { lap.time = random.below(1_000) }
    } else {
      try store.add(Lap(number: number))
    }
  }
}

/// What a table view shows after a change set: rows that are not named stay as they were shown.
func replay(_ old: [String], _ changes: LiveChanges, _ now: [String]) -> [String] {
  var rows = old
  for row in changes.deleted.reversed() { rows.remove(at: row) }
  for row in changes.inserted { rows.insert(now[row], at: row) }
  for row in changes.updatedInNew { rows[row] = now[row] }
  return rows
}
