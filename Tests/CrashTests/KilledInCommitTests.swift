import CrashSamples
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// Writers killed inside LMDB's commit, beside a process that has the store open and gives space back. What a dead writer
/// left half done must neither cost a page of the version it made nor stop the next writer. `VIVARIUM_CRASH_ROUNDS` sets how
/// often, `VIVARIUM_SEED` repeats a run's choices.
@Suite(.serialized) struct KilledInCommitTests {
  private let folder = TemporaryDirectory("killed")
  private var path: String { folder.file("store").path }

  private func open() throws -> any StorageEngine { try LMDBBackend(path: path).open(OpenOptions(historyLimit: 1_000_000)) }

  /// Lets a writer commit and die between the meta page and the number of the newest transaction. The last number that it
  /// said; the commit in which it died is one more.
  private func die(in commits: Int, of writer: Int64) throws -> Int64 {
    let child = try WritingChild(.lmdb, path, writer, commits: commits)
    let last = child.lastWord()
    #expect(child.wasKilled)
    return last
  }

  private func lastNumber(of writer: Int64, _ engine: any StorageEngine) throws -> Int64 {
    let read = try engine.beginRead()
    defer { read.end() }
    return try CrashLedger.lastNumber(of: writer, read)
  }

  private func checkWhole(_ engine: any StorageEngine, _ acknowledged: [Int64: Int64], _ comment: Comment = "") throws {
    let read = try engine.beginRead()
    defer { read.end() }
    try CrashLedger.check(read, acknowledged: acknowledged)
    var faults: [StoreFault] = []
    try engine.powers.structure?.verifyStructure(read) { faults.append($0) }
    #expect(faults.isEmpty, comment)
  }

  @Test func givingSpaceBackAfterAKillInsideACommitTakesNoPageOfTheNewestVersion() throws {
    let engine = try open()
    defer { engine.close() }
    for round in 0..<3 {
      let last = try die(in: 40, of: 1) + 1
      #expect(last == Int64(40 * (round + 1)))
      _ = try engine.powers.space?.reclaimSpace(LockTries.deadline)
      #expect(try lastNumber(of: 1, engine) == last)
      try checkWhole(engine, [1: last])
    }
  }

  @Test func theNextWriterAfterAKillInsideACommitGoesOnFromTheNewestVersion() throws {
    let engine = try open()
    defer { engine.close() }
    for round in 0..<3 {
      let last = try die(in: 3, of: 1) + 1
      #expect(last == Int64(4 * round + 3))
      #expect(try CrashLedger.commitNext(1, engine, round == 1 ? .relaxed : .full, LockTries.deadline) == last + 1)
      try checkWhole(engine, [1: last + 1])
    }
  }

  @Test func aStoreOpenedAfterAKillInsideACommitShowsTheNewestVersionToItsFirstWriter() throws {
    let keeper = try open()
    defer { keeper.close() }
    let last = try die(in: 5, of: 1) + 1
    // Another process that opens only now.
    let other = try WritingChild(.lmdb, path, 2)
    #expect(other.number() == 1)
    other.kill()
    let second = other.lastWord()
    try checkWhole(keeper, [1: last, 2: second])
  }

  /// The reader is in no table: writers see what it holds, and each has to tell LMDB anew, whoever told it before and died.
  @Test func aReaderWithoutRightsReadsOnThoughItsWritersAreKilled() throws {
    var random = SeededGenerator.forTest("outside")
    let engine = try open()
    defer { engine.close() }
    try CrashLedger.prepare(engine)
    _ = try CrashLedger.commitNext(1, engine, .full)
    let reader = try WritingChild(reading: .lmdb, path, of: 1)
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 12) {
      let writer = try WritingChild(.lmdb, path, 1)
      for _ in 0..<(30 + random.below(20)) { _ = writer.number() }
      writer.kill()
      let last = writer.lastWord()
      #expect(last >= 30)
      if random.oneIn(2) { _ = try die(in: 1 + random.below(5), of: 1) }
      if random.oneIn(3) { _ = try engine.powers.space?.reclaimSpace(.after(.seconds(600))) }
      // It holds a version since before the round, or is about to say that one was right.
      try #require(reader.number() != nil, "round \(round): what it held was written over")
    }
    reader.kill()
    try checkWhole(engine, [1: try lastNumber(of: 1, engine)])
  }

  @Test func killedWritersBesideCompactionLoseNothing() throws {
    var random = SeededGenerator.forTest("compaction")
    var acknowledged: [Int64: Int64] = [1: 0, 2: 0]
    let engine = try open()
    defer { engine.close() }
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 12) {
      let writer = Int64(1 + random.below(2))
      if random.oneIn(2) {
        acknowledged[writer] = max(acknowledged[writer] ?? 0, try die(in: 1 + random.below(30), of: writer))
      } else {
        let child = try WritingChild(.lmdb, path, writer)
        for _ in 0..<(1 + random.below(30)) { _ = child.number() }
        if random.oneIn(2) { _ = try engine.powers.space?.reclaimSpace(.after(.seconds(600))) }
        child.kill()
        acknowledged[writer] = max(acknowledged[writer] ?? 0, child.lastWord())
      }
      switch random.below(4) {
      case 0: acknowledged[writer] = try CrashLedger.commitNext(writer, engine, .relaxed, LockTries.deadline)
      case 1: break
      default: _ = try engine.powers.space?.reclaimSpace(LockTries.deadline)
      }
      try checkWhole(engine, acknowledged, "round \(round)")
      for writer in acknowledged.keys { acknowledged[writer] = try lastNumber(of: writer, engine) }
    }
  }
}
