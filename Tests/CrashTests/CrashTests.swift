import CrashSamples
import Foundation
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

/// Children that write are killed at random moments, beside one that reads. What they were told is durable must be there, whole;
/// the next writer must not wait; and who reads must go on, and never find a part of a commit. `VIVARIUM_CRASH_ROUNDS` sets how
/// often, `VIVARIUM_SEED` repeats a run's choices.
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
    var tries = LockTries()
    var silence = 0
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 10) {
      if round % 25 == 24 {
        // A fresh file now and then: also the making of a store can be cut short.
        commits += acknowledged.values.reduce(0, +)
        try store.backend(path).remove()
        path = folder.file("store-\(round)").path
        acknowledged = [:]
      }
      let writers = random.oneIn(3) ? [1, 2, 3] : [Int64(1 + random.below(3))]
      // Mostly beside one that reads, but a store is also made, and its makers killed, with nobody else there.
      let (isThere, isReadOnly) = (FileManager.default.fileExists(atPath: path), random.oneIn(2))
      let reads = random.oneIn(2) || isThere
      let children = try writers.map { try WritingChild(store, path, $0) }
      let reader = reads ? try WritingChild(readingBesideWritersOf: store, path, isReadOnly: isThere && isReadOnly) : nil
      if let reader, random.oneIn(2) { #expect(reader.number() != nil, "round \(round): the reader cannot begin") }
      // The moment is counted in commits, so that slow machines test the same; and then a little more.
      let count = random.below(12)
      for _ in 0..<count { _ = children[0].number() }
      if random.oneIn(2) { spin(random.below(60_000)) }
      if children.count > 1, random.oneIn(2) { silence = max(silence, letOneWriteOn(children, round)) }
      for child in children { child.kill() }
      let last = try writeOn(store.backend(path), reader, round, &tries)
      reader?.kill()
      for child in children { acknowledged[child.writer] = max(acknowledged[child.writer] ?? 0, child.lastWord()) }
      acknowledged[last.writer] = max(acknowledged[last.writer] ?? 0, last.number)
      if let reader {
        _ = reader.lastWord()
        #expect(reader.wasKilled, "round \(round): the reader has ended by itself; what it found is on standard error")
      }
      try check(store.backend(path), acknowledged: &acknowledged, round)
    }
    commits += acknowledged.values.reduce(0, +)
    print(
      "\(store): \(commits) acknowledged commits; after kills the right to write was free within try \(tries.worst) of a second, "
        + "and survivors said nothing for \(silence) s, at worst")
    #expect(silence < LockTries.most)
  }

  /// Kills all but one, which must not wait for the dead. Returns for how many seconds it said nothing, at worst.
  private func letOneWriteOn(_ children: [WritingChild], _ round: Int) -> Int {
    let survivor = children[round % children.count]
    for child in children where child !== survivor { child.kill() }
    // What it had done before shows nothing.
    survivor.catchUp()
    var silence = 0
    for _ in 0..<3 {
      #expect(survivor.number() != nil, "round \(round): writer \(survivor.writer) stands still")
      silence = max(silence, survivor.silence)
    }
    return silence
  }

  /// Writes where all other writers are dead: the right to write is free, whoever had it, and the reader sees what is written.
  private func writeOn(
    _ backend: any StorageBackend, _ reader: WritingChild?, _ round: Int, _ tries: inout LockTries
  ) throws -> (writer: Int64, number: Int64) {
    let engine = try backend.open(OpenOptions(historyLimit: 1_000_000))
    defer { engine.close() }
    try tries.take(engine)
    // Everybody may have been killed before the types were made.
    try CrashLedger.prepare(engine)
    let writer = Int64(1 + round % 3)
    let number = try CrashLedger.commitNext(writer, engine, .relaxed, LockTries.deadline)
    let version = Int64(clamping: try engine.latestVersion().rawValue)
    if let reader {
      while let seen = reader.number(), seen < version {}
      #expect(reader.acknowledged >= version, "round \(round): the reader stands still, or has ended")
    }
    return (writer, number)
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
    // Writers that were killed before their first word may have committed; they are checked too.
    for writer in Int64(1)...3 where acknowledged[writer] == nil { acknowledged[writer] = 0 }
    do { try CrashLedger.check(read, acknowledged: acknowledged) } catch {
      Issue.record("round \(round): \(error)")
      throw error
    }
    for writer in acknowledged.keys { acknowledged[writer] = try CrashLedger.lastNumber(of: writer, read) }
  }
}
