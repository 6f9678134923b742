#if os(Linux)
import CrashSamples
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// What a power cut may leave: the writes since the last sync kept, lost or torn at random, at every one of a
/// workload's file calls in turn. `VIVARIUM_POWER_CUTS` says how many cuts for each engine (default 20).
@Suite struct PowerCutTests {
  /// Enough that later ones are in a journal, and that it begins anew.
  static let transactions = 30
  static var cuts: Int { environmentNumber("VIVARIUM_POWER_CUTS", default: 20) }

  @Test(arguments: CrashedStore.allCases)
  func everyAcknowledgedCommitIsWholeAfterAPowerCut(store: CrashedStore) throws {
    var random = SeededGenerator.forTest()
    let calls = try callsOfWholeRun(store)
    let cuts = Self.cuts
    try #require(calls > 20)
    for cut in 0..<cuts {
      // Evenly over the workload, then at random.
      let at = cut < calls ? 1 + cut * max(1, calls / cuts) : 1 + random.below(calls)
      let folder = TemporaryDirectory()
      let path = Child.path(in: folder)
      let seed = random.next()
      let outcome = try Child.run(store, path, Self.transactions, Child.cut(at: at, seed))
      try check(store.backend(path), acknowledged: outcome.done, "\(store), cut at \(at), seed \(seed)")
    }
  }

  @Test(arguments: CrashedStore.allCases)
  func aFullDiskRefusesCommitsAndLosesNothing(store: CrashedStore) throws {
    let calls = try callsOfWholeRun(store)
    for at in stride(from: calls / 3, to: calls, by: max(1, calls / 8)) {
      let folder = TemporaryDirectory()
      let path = Child.path(in: folder)
      let outcome = try Child.run(
        store, path, Self.transactions, ["POWER_FAIL_AT": "\(at)", "POWER_FAIL_FOR": "2"])
      #expect(outcome.errors.isEmpty, "failing at \(at)")
      #expect(outcome.done == nil || outcome.done! > 0)
      try check(store.backend(path), acknowledged: outcome.done, "\(store), failing at \(at)")
    }
  }

  @Test(arguments: CrashedStore.allCases)
  func aCopyIsWholeOrNotThereAfterAPowerCut(store: CrashedStore) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryDirectory()
    let path = Child.path(in: folder)
    _ = try Child.run(store, path, Self.transactions, [:])
    let cuts = Self.cuts
    for number in 1...Int64(3) {
      let whole = folder.file("whole-\(number)").path
      let calls = try Child.run(store, path, copy: whole, number, [:]).calls
      try #require(calls > 2 && FileManager.default.fileExists(atPath: whole))
      for cut in 0..<cuts {
        let copy = folder.file("copy-\(number)-\(cut)").path
        let at = cut < calls ? 1 + cut * max(1, calls / cuts) : 1 + random.below(calls)
        let seed = random.next()
        let outcome = try Child.run(store, path, copy: copy, number, Child.cut(at: at, seed))
        let what = "copy \(number), cut at \(at), seed \(seed)"
        #expect(outcome.done == nil || FileManager.default.fileExists(atPath: copy), "\(what)")
        if FileManager.default.fileExists(atPath: copy) {
          try check(store.backend(ofCopy: number, copy), acknowledged: Int64(Self.transactions), "\(store), \(what)")
        }
        try check(store.backend(path), acknowledged: Int64(Self.transactions), "\(store), \(what)")
      }
    }
  }

  private func callsOfWholeRun(_ store: CrashedStore) throws -> Int {
    let folder = TemporaryDirectory()
    let outcome = try Child.run(store, Child.path(in: folder), Self.transactions, [:])
    #expect(outcome.errors.isEmpty && outcome.done == Int64(Self.transactions))
    return outcome.calls
  }

  /// Looks through the store, and commits one more.
  func check(_ backend: any StorageBackend, acknowledged: Int64?, _ what: String) throws {
    do {
      try RestartedSystem.play(backend.location)
      let opened = try backend.open(OpenOptions())
      defer { opened.close() }
      let read = try opened.beginRead()
      let last = try CrashLedger.lastNumber(of: 1, read)
      #expect(last >= acknowledged ?? 0, "\(what)")
      try CrashLedger.check(read, acknowledged: [1: last])
      read.end()
      try CrashLedger.prepare(opened)
      #expect(try CrashLedger.commitNext(1, opened, .full) == last + 1, "\(what)")
    } catch {
      Issue.record("\(what): \(error)")
    }
  }
}
#endif
