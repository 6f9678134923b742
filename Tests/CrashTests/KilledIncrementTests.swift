import CrashSamples
import Foundation
import StorageIncrements
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

/// Processes that write increments, and that restore stores of them, are killed at random moments: what has its name is whole.
/// `VIVARIUM_CRASH_ROUNDS` sets how often, `VIVARIUM_SEED` repeats a run's choices.
@Suite(.serialized) struct KilledIncrementTests {
  @Test(arguments: CrashedStore.allCases) func anIncrementIsWholeOrNotThereWhoeverIsKilled(_ store: CrashedStore) throws {
    var random = SeededGenerator.forTest(store.rawValue)
    let place = try CountedChain(store)
    var next: Int64 = 1
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 6) {
      let increments = try CountedStore.increments(in: place.copies.path)
      let version = try increments.last.map { try IncrementFile($0, key: place.key).head.to } ?? place.base
      let child = try WritingChild(
        "increments", of: store, place.store, into: place.copies, from: next, version: version)
      for _ in 0..<random.below(3) { _ = child.number() }
      spin(random.below(60_000))
      child.kill()
      next = max(next, child.lastWord() + 1)
      // It may have been killed before it could say so.
      if FileManager.default.fileExists(atPath: place.copies.appendingPathComponent("increment-\(next)").path) { next += 1 }
      let all = try CountedStore.increments(in: place.copies.path)
      #expect(Int64(all.count) == next - 1, "round \(round)")
      #expect(try place.numberOfRestored(all) != nil, "round \(round)")
    }
  }

  @Test(arguments: CrashedStore.allCases) func aRestoredStoreIsWholeOrNotThereWhoeverIsKilled(_ store: CrashedStore) throws {
    var random = SeededGenerator.forTest(store.rawValue)
    let place = try CountedChain(store)
    try place.writeIncrements(3)
    var next: Int64 = 1
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 6) {
      let child = try WritingChild("restores", of: store, place.store, into: place.copies, from: next, version: place.base)
      for _ in 0..<random.below(3) { _ = child.number() }
      spin(random.below(60_000))
      child.kill()
      let last = max(next - 1, child.lastWord())
      for number in next...last + 1 {
        let path = place.copies.appendingPathComponent("restored-\(number)").path
        if number > last, !FileManager.default.fileExists(atPath: path) { continue }
        #expect(try place.number(path) != nil, "round \(round), store \(number)")
        next = number + 1
      }
    }
    // Leftovers of killed processes go with the next store of the name.
    let path = place.copies.appendingPathComponent("restored-\(next)").path
    _ = try StoreRestoration(store.backend(path)).restore(place.full, CountedStore.increments(in: place.copies.path)) { _ in .proceed }
    #expect(try place.number(path) != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.copies.path).allSatisfy { !$0.hasPrefix("restored-\(next).new") })
  }

  /// Passes a little time of random length, busy.
  private func spin(_ turns: Int) {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<turns { _ = generator.next() }
  }
}
