import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import ColumnStore

/// Whatever an entry of a column store says, reading and writing ends in a value or a typed error, and costs what the
/// entries are worth.
@Suite struct DamagedEntriesTests {
  private struct Entries {
    var keys: [[UInt8]] = []
    var values: [[UInt8]] = []
    var version = Version(0)

    init(_ store: any KeyValueStore) throws {
      let snapshot = try store.beginSnapshot()
      defer { snapshot.end() }
      version = snapshot.version
      var (keys, values): ([[UInt8]], [[UInt8]]) = ([], [])
      try [UInt8]([1]).lend { start throws(StorageError) in
        try snapshot.visit(from: start, sharing: 0, reverse: false) { key, value in
          keys.append(Array(key))
          values.append(Array(value))
          return .proceed
        }
      }
      (self.keys, self.values) = (keys, values)
    }

    func store() throws -> MemoryStore {
      let store = MemoryStore(pageSize: 512)
      let writer = try store.acquireWriter(.never)
      defer { writer.end() }
      var seen: Set<[UInt8]> = []
      var batch = KeyValueBatch(version: version)
      for (key, value) in zip(keys, values) where !key.isEmpty && key[0] != 0 && seen.insert(key).inserted {
        key.withUnsafeBytes { batch.append(key: $0, value: ValueBuffer(value)) }
      }
      batch.sort()
      try writer.apply(batch, .full)
      return store
    }
  }

  @Test func damagedEntriesAreReadOrRefused() throws {
    var random = SeededGenerator.forTest()
    let sample = MemoryStore(pageSize: 512)
    let engine = try ColumnEngine(sample, OpenOptions())
    try DamageSample.fill(engine, &random)
    let whole = try Entries(sample)
    var tour = StoreTour()
    tour.read(engine)
    #expect(tour.errors.isEmpty && !tour.isEndless, "\(tour.errors.map(\.message))")
    var refused = 0
    let rounds = environmentNumber("VIVARIUM_DAMAGE_ROUNDS", default: 150)
    for round in 0..<rounds {
      // The seed of the round, so that one that ends the process can be had again by itself.
      var random = SeededGenerator(seed: random.next())
      if rounds > 1_000 || round % 50 == 0 { print("round \(round): seed \(random.seed)") }
      var entries = whole
      for _ in 0...random.below(3) { damageOne(&entries, &random) }
      guard let engine = try? ColumnEngine(entries.store(), OpenOptions()) else { continue }
      var tour = StoreTour()
      tour.read(engine)
      tour.write(engine, &random)
      tour.read(engine)
      #expect(!tour.isEndless, "round \(round)")
      for error in tour.errors where error.code == .corrupt {
        #expect(error.message.contains(" It was met looking for "), "round \(round): \(error)")
      }
      refused += tour.errors.isEmpty ? 0 : 1
    }
    #expect(refused > 0)
  }

  private func damageOne(_ entries: inout Entries, _ random: inout SeededGenerator) {
    // Every kind as often as the next, however many entries it has.
    let kind = UInt8(1 + random.below(13))
    let places = entries.keys.indices.filter { entries.keys[$0].first == kind }
    guard let place = places.randomElement(using: &random) else { return }
    switch random.below(12) {
    case 0:
      entries.keys.remove(at: place)
      entries.values.remove(at: place)
    case 1:
      let other = places.randomElement(using: &random) ?? place
      entries.values.swapAt(place, other)
    case 2:
      random.damage(&entries.keys[place])
      if entries.keys[place].count > 400 { entries.keys[place].removeLast(entries.keys[place].count - 400) }
    default: for _ in 0...random.below(2) { random.damage(&entries.values[place]) }
    }
  }
}
