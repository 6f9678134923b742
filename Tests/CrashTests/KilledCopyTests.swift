import CrashSamples
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// Processes that write copies are killed at random moments, some of them while they encrypt the copy with another key. The store
/// that they copied stays whole and usable, a copy is complete or does not exist, and leftovers do not disturb the next copy.
/// `VIVARIUM_CRASH_ROUNDS` sets how often, `VIVARIUM_SEED` repeats a run's choices.
@Suite(.serialized) struct KilledCopyTests {
  @Test(arguments: CrashedStore.allCases) func aCopyIsWholeOrNotThereWhoeverIsKilled(_ store: CrashedStore) throws {
    var random = SeededGenerator.forTest(store.rawValue)
    let folder = TemporaryDirectory("copies")
    let path = folder.file("store").path
    let copies = folder.file("copies")
    try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: false)
    var acknowledged = try write(30, store, path)
    var next: Int64 = 1
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 10) {
      let child = try WritingChild(copying: store, path, into: copies, from: next)
      let writer = random.oneIn(2) ? try WritingChild(store, path, 1) : nil
      let count = random.below(3)
      for _ in 0..<count { _ = child.number() }
      _ = writer?.number()
      spin(random.below(60_000))
      child.kill()
      if random.oneIn(2) { _ = writer?.number() }
      writer?.kill()
      let last = max(next - 1, child.lastWord())
      for number in next...last + 1 where number <= last || isThere(number, copies) {
        try check(store.backend(ofCopy: number, copy(number, copies)), acknowledged, "round \(round), copy \(number)")
      }
      acknowledged = max(acknowledged, writer?.lastWord() ?? 0)
      try check(store.backend(path), acknowledged, "round \(round), the store")
      acknowledged = try write(1, store, path)
      next = last + 1
      try goOn(store, path, copies, &next, acknowledged, "round \(round)")
    }
  }

  /// Writes the copy that the killed process did not finish. Then the folder holds nothing but copies; removes them.
  private func goOn(
    _ store: CrashedStore, _ path: String, _ copies: URL, _ next: inout Int64, _ acknowledged: Int64, _ what: Comment
  ) throws {
    if isThere(next, copies) { next += 1 }
    let engine = try store.backend(path).open(OpenOptions(historyLimit: 1_000_000))
    defer { engine.close() }
    let copying = try #require(engine.powers.copying)
    try copying.writeCopy(to: copy(next, copies), store.encryption(ofCopy: next)) { _ in .proceed }
    let names = try FileManager.default.contentsOfDirectory(atPath: copies.path).filter { !$0.hasSuffix("-lock") }
    #expect(names.allSatisfy { $0.split(separator: "-").count == 2 && !$0.contains(".new") }, what)
    try check(store.backend(ofCopy: next, copy(next, copies)), acknowledged, what)
    for name in try FileManager.default.contentsOfDirectory(atPath: copies.path) {
      try FileManager.default.removeItem(at: copies.appendingPathComponent(name))
    }
    next += 1
  }

  private func copy(_ number: Int64, _ copies: URL) -> String { copies.appendingPathComponent("copy-\(number)").path }

  private func isThere(_ number: Int64, _ copies: URL) -> Bool { FileManager.default.fileExists(atPath: copy(number, copies)) }

  /// Commits `count` numbers and returns the last.
  private func write(_ count: Int, _ store: CrashedStore, _ path: String) throws -> Int64 {
    try write(count, store.backend(path))
  }

  func write(_ count: Int, _ backend: any StorageBackend) throws -> Int64 {
    let engine = try backend.open(OpenOptions(historyLimit: 1_000_000))
    defer { engine.close() }
    try CrashLedger.prepare(engine)
    var last: Int64 = 0
    for _ in 0..<count { last = try CrashLedger.commitNext(1, engine, .full) }
    return last
  }

  func check(_ backend: any StorageBackend, _ acknowledged: Int64, _ what: Comment) throws {
    let engine = try backend.open(OpenOptions(isReadOnly: true, historyLimit: 1_000_000))
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    do { try CrashLedger.check(read, acknowledged: [1: acknowledged]) } catch { Issue.record("\(what): \(error)") }
    var faults: [StoreFault] = []
    try engine.powers.structure?.verifyStructure(read) { faults.append($0) }
    #expect(faults.isEmpty, what)
  }

  /// Passes a little time of random length, busy.
  func spin(_ turns: Int) {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<turns { _ = generator.next() }
  }
}
