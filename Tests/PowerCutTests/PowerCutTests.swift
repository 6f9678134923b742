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
  private static let transactions = 30

  @Test(arguments: CrashedStore.allCases)
  func everyAcknowledgedCommitIsWholeAfterAPowerCut(store: CrashedStore) throws {
    var random = SeededGenerator.forTest()
    let calls = try callsOfWholeRun(store)
    let cuts = environmentNumber("VIVARIUM_POWER_CUTS", default: 20)
    try #require(calls > 20)
    for cut in 0..<cuts {
      // Evenly over the workload, then at random.
      let at = cut < calls ? 1 + cut * max(1, calls / cuts) : 1 + random.below(calls)
      let folder = TemporaryDirectory()
      let path = Child.path(in: folder)
      let seed = random.next()
      let outcome = try Child.run(
        store, path, Self.transactions, ["POWER_CUT_AT": "\(at)", "POWER_CUT_SEED": "\(seed)"])
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
    let cuts = environmentNumber("VIVARIUM_POWER_CUTS", default: 20)
    for number in 1...Int64(3) {
      let whole = folder.file("whole-\(number)").path
      let calls = try Child.run(store, path, copy: whole, number, [:]).calls
      try #require(calls > 2 && FileManager.default.fileExists(atPath: whole))
      for cut in 0..<cuts {
        let copy = folder.file("copy-\(number)-\(cut)").path
        let at = cut < calls ? 1 + cut * max(1, calls / cuts) : 1 + random.below(calls)
        let seed = random.next()
        let outcome = try Child.run(
          store, path, copy: copy, number, ["POWER_CUT_AT": "\(at)", "POWER_CUT_SEED": "\(seed)"])
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

  private func check(_ backend: any StorageBackend, acknowledged: Int64?, _ what: String) throws {
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

/// One run of the writing program.
private enum Child {
  struct Outcome {
    var done: Int64?
    var calls = 0
    var errors: [String] = []
  }

  static func path(in folder: TemporaryDirectory) -> String { folder.file("ledger").path }

  static func run(_ store: CrashedStore, _ path: String, _ count: Int, _ environment: [String: String]) throws -> Outcome {
    try run([store.rawValue, path, "\(count)"], over: path, environment)
  }

  /// Writes a copy; the power goes at calls on its files.
  static func run(
    _ store: CrashedStore, _ path: String, copy: String, _ number: Int64, _ environment: [String: String]
  ) throws -> Outcome {
    try run([store.rawValue, path, "\(number)", copy], over: copy, environment)
  }

  private static func run(_ arguments: [String], over path: String, _ environment: [String: String]) throws -> Outcome {
    let child = Process()
    child.executableURL = Bundle.main.bundleURL.appendingPathComponent("power-cut-child")
    child.arguments = arguments
    child.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      .merging(["POWER_CUT_PATH": path]) { $1 }
    let output = Pipe()
    child.standardOutput = output
    try child.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    child.waitUntilExit()
    var outcome = Outcome()
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1)
      switch words.first {
      case "done": outcome.done = words.last.flatMap { Int64($0) }
      case "calls": outcome.calls = words.last.flatMap { Int($0) } ?? 0
      case "error", "usage": outcome.errors.append(String(line))
      default: break
      }
    }
    return outcome
  }
}

/// A point to which a file is put back after a crash says in which run of the system it was written. This one goes on, so the point is
/// made one of another.
private enum RestartedSystem {
  private static let (slot, size, run, sum) = (512, 256, 32, 248)

  static func play(_ path: String) throws {
    let url = URL(fileURLWithPath: path + ".safe")
    guard var bytes = try? Data(contentsOf: url) else { return }
    for place in [0, slot] where bytes.count >= place + size {
      // A torn point stays one.
      guard word(bytes, place + sum) == checksum(bytes[place..<place + sum]) else { continue }
      bytes[place + run] ^= 1
      withUnsafeBytes(of: checksum(bytes[place..<place + sum]).littleEndian) {
        bytes.replaceSubrange(place + sum..<place + size, with: $0)
      }
    }
    let file = try FileHandle(forWritingTo: url)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  private static func word(_ bytes: Data, _ at: Int) -> UInt64 {
    bytes[at..<at + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// FNV-1a.
  private static func checksum(_ bytes: Data) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
#endif
