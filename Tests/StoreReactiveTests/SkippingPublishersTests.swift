import StoreReactive
import Testing
import Vivarium
import VivariumTestSupport

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Random histories under publishers of which some are left out of some commits, by their tokens or by a silent write: what each was told,
/// done to what its owner knew, gives what there is. `VIVARIUM_REPLAY=20000` runs more of them.
@Suite struct SkippingPublishersTests {
  @Test func aPublisherLeadsOnFromWhatAWriteMadeThatItIsNotToldOf() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<max(1, environmentNumber("VIVARIUM_REPLAY", default: 60) / 3) {
      var history = try PublisherHistory(generator.fork())
      try history.run()
    }
  }

  @Test func aSilentWriteIsNotPublished() throws {
    let store = try makeStore()
    var (counts, pairs): ([Int], [[Int]]) = ([], [])
    let laps = store.objects(Lap.self)
    let streams = [
      Live.collection(from: laps).sink(receiveCompletion: { _ in }) { counts.append($0.count) },
      Live.combineLatest(laps, store.objects(Timer.self))
        .sink(receiveCompletion: { _ in }) { laps, timers in pairs.append([laps.count, timers.count]) },
    ]
    store.refresh()
    try store.write(silently: true) { try store.add(Lap(number: 1)) }
    store.refresh()
    #expect(counts == [0] && pairs == [[0, 0]])
    try store.write { try store.add(Lap(number: 2)) }
    store.refresh()
    #expect(counts == [0, 2] && pairs == [[0, 0], [2, 0]])
    for stream in streams { stream.cancel() }
  }
}

/// One publisher, and what its owner knows.
private final class Published {
  let saved = SavedTokens()
  private let name: String
  private let laps: Results<Lap>
  private var known: [String] = []
  private var stream: AnyCancellable?

  init(_ name: String, _ laps: Results<Lap>) {
    (self.name, self.laps) = (name, laps)
    stream = Live.arrayWithChangeset(from: laps).saving(in: saved)
      .sink(receiveCompletion: { Issue.record("\(name): \($0)") }) { [unowned self] laps, changes in
        let now = laps.map(Published.text)
        known = changes.map { replay(known, $0, now) } ?? now
        #expect(known == now, "\(name)")
      }
  }

  private static func text(_ lap: Lap) -> String { "\(lap.number) \(lap.time)" }

  /// The owner wrote, and shows what it made.
  func learn() { known = laps.map(Published.text) }
  func checkIsUpToDate() { #expect(known == laps.map(Published.text), "\(name)") }
  func cancel() { stream?.cancel() }
}

private struct PublisherHistory {
  private var random: SeededGenerator
  private let store: Store
  private let other: Store
  private let publishers: [Published]

  init(_ random: SeededGenerator) throws {
    self.random = random
    let configuration = makeConfiguration()
    store = try Store(configuration, isolation: nil)
    other = try Store(configuration, isolation: nil)
    let all = store.objects(Lap.self)
    publishers = [
      Published("all", all), Published("sorted", all.sorted(by: \.time)), Published("filtered", all.where { $0.time < 5 }),
      Published("window", all.sorted(by: \.number).limited(to: 4)), Published("told apart", all.distinct(by: \.time)),
    ]
  }

  mutating func run() throws {
    for _ in 0..<40 {
      switch random.below(6) {
      case 0: check()
      case 1: try skip()
      case 2:
        try store.write(silently: true) { try edit(store) }
        for publisher in publishers { publisher.learn() }
      case 3: try store.write { try edit(store) }
      default: try other.write { try edit(other) }
      }
    }
    check()
    for publisher in publishers { publisher.cancel() }
  }

  private func check() {
    store.refresh()
    for publisher in publishers { publisher.checkIsUpToDate() }
  }

  private mutating func skip() throws {
    var knowing: [Published] = []
    for publisher in publishers where random.oneIn(2) { knowing.append(publisher) }
    try store.write(withoutNotifying: knowing.flatMap(\.saved.tokens)) { try edit(store) }
    for publisher in knowing { publisher.learn() }
  }

  private mutating func edit(_ writer: Store) throws {
    for _ in 0...random.below(3) {
      let laps = writer.objects(Lap.self)
      guard laps.count >= 4, !random.oneIn(4) else {
        try writer.add(Lap(number: (laps.map(\.number).max() ?? 0) + 1))
        continue
      }
      let lap = laps[random.below(laps.count)]
      if random.oneIn(4) { try writer.delete(lap) } else { lap.time = random.below(10) }
    }
  }
}
