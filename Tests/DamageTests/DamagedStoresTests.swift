import Foundation
import Testing
import VivariumTestSupport

/// Damaged files of each engine, and damaged side files: what is read is right or refused by name, whatever was damaged, and
/// nothing ends the process or stands still. Each variant is read, verified and written in a process of its own.
///
/// `VIVARIUM_DAMAGED_STORES` says how many variants of each file, of some files a multiple of that (`share`), and
/// `VIVARIUM_DAMAGED_STORES_LEAST` how many of each file at least; `Tools/long-tests --only damaged-stores` tries as many as it promises.
struct DamagedStoresTests {
  /// A file, by what follows the store's name.
  struct Target: Sendable, CustomTestStringConvertible {
    var kind: String
    var suffix: String
    /// As a process has the store open, or as it rests.
    var isOpen = true
    var share = 1
    var testDescription: String { "\(kind), store\(suffix)\(isOpen ? "" : " at rest")" }

    static let all = plain + sealed

    private static let plain = [
      Target(kind: "lmdb", suffix: "", isOpen: false, share: 8), Target(kind: "lmdb-deep", suffix: "", isOpen: false),
      Target(kind: "lmdb", suffix: "-lock"),
      Target(kind: "lmdb", suffix: ".coord"), Target(kind: "lmdb", suffix: ".bell"), Target(kind: "lmdb", suffix: ".safe"),
      Target(kind: "sqlite", suffix: "", isOpen: false, share: 8), Target(kind: "sqlite", suffix: "-wal", share: 2),
      Target(kind: "sqlite", suffix: "-shm"), Target(kind: "sqlite", suffix: ".coord"), Target(kind: "sqlite", suffix: ".bell"),
    ]

    #if Encryption
    /// The main file also beside a log, where its length does not show that it was cut.
    private static let sealed = [
      Target(kind: "lmdb-sealed", suffix: "", isOpen: false, share: 6),
      Target(kind: "sealed", suffix: "", isOpen: false, share: 2), Target(kind: "sealed", suffix: "", share: 4),
      Target(kind: "sealed", suffix: "-wal", share: 2), Target(kind: "sealed", suffix: "-shm"),
    ]
    #else
    private static let sealed: [Target] = []
    #endif
  }

  @Test(arguments: Target.all) func whatIsLeftIsRightOrRefused(target: Target) throws {
    let seed = SeededGenerator.forTest("\(target)").seed
    let folder = TemporaryDirectory("damage")
    let made = try DamageRun(["make", target.kind, folder.url.path, "\(seed)"])
    try #require(made.status == 0, "\(made)")
    let least = environmentNumber("VIVARIUM_DAMAGED_STORES_LEAST", default: 1)
    let count = max(least, environmentNumber("VIVARIUM_DAMAGED_STORES", default: 16) * target.share)
    var tally: [String: Int] = [:]
    var next = 0
    while next < count {
      let state = target.isOpen ? "open" : "rest"
      let run = try DamageRun(["try", target.kind, folder.url.path, state, target.suffix, "\(seed)", "\(next)", "\(count - next)"])
      for line in run.lines {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count > 1, let number = Int(words[0]) else { continue }
        next = number + 1
        tally[words[1], default: 0] += 1
        if isAllowed(words[1], target) { continue }
        Issue.record("\(target) seed \(seed) variant \(line)")
      }
      if run.status == 0 { break }
      Issue.record("\(target) seed \(seed) variant \(next) ended by \(run.ending)")
      tally["ended", default: 0] += 1
      next += 1
    }
    let (wrong, most) = (tally["wrong", default: 0] + tally["unseen", default: 0], mostWrong(target, of: count))
    #expect(wrong <= most, "\(target) seed \(seed)")
    let counts = tally.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    print("\(target.testDescription): \(counts); wrong \(wrong), at most \(most)")
  }

  /// How many variants may be read wrong without a word: twice what was measured (Docs/Decisions/0044), and some in a short run. Where
  /// values have checksums none may be, nor where the damaged file has none.
  private func mostWrong(_ target: Target, of count: Int) -> Int {
    guard target.kind == "sqlite" else { return 0 }
    switch target.suffix {
    case "": return max(16, count / 2)
    case "-wal", "-shm": return max(1, count / 1_000)
    default: return 0
    }
  }

  private func isAllowed(_ verdict: String, _ target: Target) -> Bool {
    switch verdict {
    case "right", "refused": true
    // SQLite goes back to the last commit whose frames are whole, as after a power cut, and says nothing; and what a cell holds,
    // the version in the history's last row too, has no checksum there, unless it is encrypted: Docs/Decisions/0044.
    case "older": target.kind != "lmdb" && target.suffix == "-wal" || target.kind == "sqlite" && target.suffix.isEmpty
    case "wrong": target.kind == "sqlite" && target.suffix != ".coord" && target.suffix != ".bell"
    // `verify` has no checksums there either. Everywhere else it finds what reading does.
    case "unseen", "missed": target.kind == "sqlite" && target.suffix != ".coord" && target.suffix != ".bell"
    default: false
    }
  }
}

/// One run of `damage-child`.
struct DamageRun {
  let status: Int32
  let ending: String
  let lines: [Substring]

  init(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = try DamageRun.executable()
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let (output, errors) = (Pipe(), TemporaryDirectory("damage-errors"))
    process.standardOutput = output
    let file = errors.file("errors")
    try Data().write(to: file)
    process.standardError = try FileHandle(forWritingTo: file)
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    let isExit = process.terminationReason == .exit
    status = isExit ? process.terminationStatus : -process.terminationStatus
    let said = String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
    ending = "\(isExit ? "status" : "signal") \(process.terminationStatus): \(said.suffix(3_000))"
  }

  /// Beside the tests' own program: the build puts both there.
  private static func executable() throws -> URL {
    let beside = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("damage-child")
    if let beside, FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
    return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("damage-child")
  }
}
