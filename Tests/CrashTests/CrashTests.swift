import CrashSamples
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// Children that write are killed at random moments; what they were told is durable must be there, whole, and
/// the next writer must not wait. `VIVARIUM_CRASH_ROUNDS` sets how often, `VIVARIUM_SEED` repeats a run's choices.
@Suite(.serialized) struct CrashTests {
  @Test(arguments: CrashedStore.allCases) func everyAcknowledgedCommitIsKeptWhole(_ store: CrashedStore) throws {
    try rounds(store)
  }

  private func rounds(_ store: CrashedStore) throws {
    var random = SeededGenerator.forTest(store.rawValue)
    let folder = TemporaryDirectory("crash")
    var path = folder.file("store-0").path
    var acknowledged: [Int64: Int64] = [:]
    var commits: Int64 = 0
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 10) {
      if round % 25 == 24 {
        // A fresh file now and then: also the making of a store can be cut short.
        commits += acknowledged.values.reduce(0, +)
        try store.backend(path).remove()
        path = folder.file("store-\(round)").path
        acknowledged = [:]
      }
      let writers = random.oneIn(3) ? [1, 2, 3] : [Int64(1 + random.below(3))]
      let children = try writers.map { try WritingChild(store, path, $0) }
      // The moment is counted in commits, so that slow machines test the same; and then a little more.
      let count = random.below(12)
      for _ in 0..<count { _ = children[0].number() }
      if random.oneIn(2) { spin(random.below(60_000)) }
      if children.count > 1, random.oneIn(2) { letOneWriteOn(children, round) }
      for child in children { child.kill() }
      for child in children { acknowledged[child.writer] = max(acknowledged[child.writer] ?? 0, child.lastWord()) }
      try check(store.backend(path), acknowledged: &acknowledged, round)
    }
    commits += acknowledged.values.reduce(0, +)
    print("\(store): \(commits) acknowledged commits")
  }

  /// Kills all but one, which must not wait for the dead.
  private func letOneWriteOn(_ children: [WritingChild], _ round: Int) {
    let survivor = children[round % children.count]
    for child in children where child !== survivor { child.kill() }
    for _ in 0..<3 { #expect(survivor.number() != nil, "round \(round): writer \(survivor.writer) stands still") }
  }

  /// Passes a little time of random length, busy.
  private func spin(_ turns: Int) {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<turns { _ = generator.next() }
  }

  private func check(_ backend: any StorageBackend, acknowledged: inout [Int64: Int64], _ round: Int) throws {
    let engine = try backend.open(OpenOptions(historyLimit: 1_000_000))
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    if read.catalog.tables.isEmpty {
      #expect(acknowledged.values.allSatisfy { $0 == 0 }, "round \(round): everything is gone")
      return
    }
    // Writers that were killed before their first word may have committed; they are checked too.
    for writer in Int64(1)...3 where acknowledged[writer] == nil { acknowledged[writer] = 0 }
    do { try CrashLedger.check(read, acknowledged: acknowledged) } catch {
      Issue.record("round \(round): \(error)")
      throw error
    }
    for writer in acknowledged.keys { acknowledged[writer] = try CrashLedger.lastNumber(of: writer, read) }
    // The lock is free at once although its holder is dead.
    let writer = Int64(1 + round % 3)
    let write = try engine.beginWrite(.after(.seconds(600)))
    write.end()
    acknowledged[writer] = try CrashLedger.commitNext(writer, engine, .relaxed)
  }
}
