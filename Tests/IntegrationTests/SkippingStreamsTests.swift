import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Parcel {
  var title = ""
  var weight = 0
  /// How often it was set, so that each setting shows.
  var edits = 0
}

/// Random histories under streams of changes, which have no token: a silent write is in what they know, and what comes behind it leads on
/// from there. `VIVARIUM_REPLAY=100000` runs more of them.
@Suite struct SkippingStreamsTests {
  @MainActor @Test func aStreamLeadsOnFromWhatASilentWriteMade() async throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_REPLAY", default: 60) / 3 {
      var (configuration, _) = Engine.memory.place([Parcel.self])
      configuration.manualDelivery = false
      let history = try StreamHistory(generator.fork(), configuration)
      try await history.run()
    }
  }
}

/// One stream, and what its owner knows.
@MainActor private final class Stream {
  private let name: String
  private let results: Results<Parcel>
  private let iterator: CollectionChanges<Parcel>.Iterator
  private var known: [String]?

  init(_ name: String, _ results: Results<Parcel>) {
    (self.name, self.results) = (name, results)
    iterator = results.changes.makeAsyncIterator()
  }

  private var rows: [String] { results.map(Stream.text) }
  private static func text(_ parcel: Parcel) -> String { "\(parcel.objectIdentifier) \(parcel.title) \(parcel.weight) \(parcel.edits)" }

  /// The owner wrote, and shows what it made.
  func learn() { known = rows }

  /// Takes what there is to take: as long as there is, an element comes.
  func take() async {
    while known != rows {
      switch await iterator.next(isolation: #isolation) {
      case .initial(let results): known = results.map(Stream.text)
      case .update(let results, let deletions, let insertions, let modifications):
        let shown = results.map(Stream.text)
        var next = known ?? []
        for position in deletions.reversed() where position < next.count { next.remove(at: position) }
        for position in insertions where position <= next.count && position < shown.count { next.insert(shown[position], at: position) }
        for position in modifications.new where position < min(next.count, shown.count) { next[position] = shown[position] }
        #expect(next == shown, "\(name)")
        known = shown
      case .error(let error):
        Issue.record("\(name): \(error)")
        return
      case nil:
        Issue.record("\(name) ended")
        return
      }
    }
  }
}

@MainActor private final class StreamHistory {
  private var random: SeededGenerator
  private let store: Store
  private let other: Store
  private let streams: [Stream]

  init(_ random: SeededGenerator, _ configuration: Store.Configuration) throws {
    self.random = random
    store = try Store(configuration)
    var elsewhere = configuration
    elsewhere.manualDelivery = true
    other = try Store(elsewhere)
    let all = store.objects(Parcel.self)
    streams = [
      Stream("all", all), Stream("sorted", all.sorted(by: \.weight)), Stream("filtered", all.filter("weight > 4")),
      // A window that was not asked is known without what waits around it, which its owner cannot see: it has no place here.
      Stream("told apart", all.distinct(by: \.title)),
    ]
  }

  func run() async throws {
    for _ in 0..<30 {
      store.refresh()
      switch random.below(4) {
      case 0:
        // What others did is shown before.
        for stream in streams { await stream.take() }
        try store.write(silently: true) { try edit(store) }
        for stream in streams { stream.learn() }
      case 1: for stream in streams { await stream.take() }
      case 2: try store.write { try edit(store) }
      default: try other.write { try edit(other) }
      }
    }
    store.refresh()
    for stream in streams { await stream.take() }
  }

  private func edit(_ writer: Store) throws {
    let letters = ["a", "b", "c", "d"]
    for _ in 0..<1 + random.below(4) {
      let parcel = writer.objects(Parcel.self)
      guard parcel.count >= 4 else {
        try writer.add(Parcel(title: letters[random.below(4)], weight: random.below(10)))
        continue
      }
      let one = parcel[random.below(parcel.count)]
      switch random.below(4) {
      case 0: try writer.add(Parcel(title: letters[random.below(4)], weight: random.below(10)))
      case 1: try writer.delete(one)
      case 2: one.title = letters[random.below(4)]
      default: one.weight = random.below(10)
      }
      if !one.isInvalidated { one.edits += 1 }
    }
  }
}
