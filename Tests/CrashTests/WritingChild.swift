import CrashSamples
import Foundation
import StoreValues
import Testing
import VivariumTestSupport

/// A running `crash-child`, and what it said.
final class WritingChild {
  /// The writer's number; 0 if the child reads, or writes copies.
  let writer: Int64
  private let process = Process()
  private let output = Pipe()
  private let ended = Signal()
  /// Whether it ended by SIGKILL. After `lastWord`.
  var wasKilled: Bool { process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL }
  private var rest = Data()
  /// The last number that the child said is durable, or the last version that it has read.
  private(set) var acknowledged: Int64 = 0
  /// How many whole seconds it said nothing before its last word.
  private(set) var silence = 0

  /// - Parameter commits: it ends itself in this commit, where a kill leaves the most behind; nil: it goes on until it is killed.
  convenience init(_ store: CrashedStore, _ path: String, _ writer: Int64, commits: Int? = nil) throws {
    try self.init([store.rawValue, path, "\(writer)"] + (commits.map { ["\($0)"] } ?? []), writer)
  }

  /// A child that reads beside the writers, and ends by itself if it finds a fault. It prints the versions.
  convenience init(readingBesideWritersOf store: CrashedStore, _ path: String, isReadOnly: Bool) throws {
    try self.init([store.rawValue, path, isReadOnly ? "watches" : "reads"], 0)
  }

  /// A child that writes copies of the store into a folder. They are numbered from `first` on, and it prints these numbers.
  convenience init(copying store: CrashedStore, _ path: String, into folder: URL, from first: Int64) throws {
    try self.init([store.rawValue, path, "copies", folder.path, "\(first)"], 0)
  }

  /// A child that reads the store without the right to write beside it. It prints the writer's last number in each version that it held and
  /// found right, and ends when one is wrong.
  convenience init(reading store: CrashedStore, _ path: String, of writer: Int64) throws {
    try self.init([store.rawValue, path, "reads", "\(writer)"], 0)
  }

  /// A child that opens the store for reading alone, and has it open until it is killed. It prints the version.
  convenience init(holding store: CrashedStore, _ path: String) throws { try self.init([store.rawValue, path, "holds"], 0) }

  /// A child that changes the key of an encrypted store again and again. The changes are numbered from `first` on, and it prints
  /// these numbers.
  convenience init(changingKeyOf store: CrashedStore, _ path: String, from first: Int64) throws {
    try self.init([store.rawValue, path, "keys", "\(first)"], 0)
  }

  /// A child that writes increments of the store into a folder, or restores stores of them there: `work` is "increments" or "restores".
  /// They are numbered from `first` on, and it prints these numbers. The first increment is since `version`.
  convenience init(
    _ work: String, of store: CrashedStore, _ path: String, into folder: URL, from first: Int64, version: Version
  ) throws {
    try self.init([store.rawValue, path, work, folder.path, "\(first)", "\(version.rawValue)"], 0)
  }

  private init(_ arguments: [String], _ writer: Int64) throws {
    self.writer = writer
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardOutput = output
    process.terminationHandler = { [ended] _ in ended.fire() }
    try process.run()
  }

  /// Beside the tests' own program: the build puts both there.
  private static var executable: URL {
    let beside = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("crash-child")
    if let beside, FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return tests.appendingPathComponent("crash-child")
  }

  /// Waits for the child's next number; nil when it has ended.
  func number() -> Int64? {
    while true {
      if let line = takeLine() {
        guard let number = Int64(line) else { return nil }
        acknowledged = max(acknowledged, number)
        return number
      }
      guard isThereOutput(), takeOutput() else { return nil }
    }
  }

  /// Takes what the child has said so far: the next number is of something that it does from now on.
  func catchUp() {
    while hasOutput(milliseconds: 0), takeOutput() {}
    while let line = takeLine() { acknowledged = max(acknowledged, Int64(line) ?? 0) }
  }

  private func takeLine() -> String? {
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
  }

  /// False: it has ended.
  private func takeOutput() -> Bool {
    let more = output.fileHandleForReading.availableData
    rest.append(more)
    return !more.isEmpty
  }

  /// Whether there is output, or its end, within a time.
  private func hasOutput(milliseconds: Int32) -> Bool {
    var item = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    var found: Int32
    repeat { found = poll(&item, 1, milliseconds) } while found < 0 && errno == EINTR
    return found > 0
  }

  /// Waits for output or its end. A child that says nothing for ten minutes stands still: what it waits for is told, and it
  /// is killed, so that the test comes to an end.
  private func isThereOutput() -> Bool {
    for seconds in 0..<600 where hasOutput(milliseconds: 1_000) {
      silence = seconds
      return true
    }
    Issue.record("Writer \(writer) has said nothing for ten minutes. \(standing)")
    kill()
    return false
  }

  /// What the child's threads wait for, as the system tells it.
  private var standing: String {
    let tasks = "/proc/\(process.processIdentifier)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    let lines = threads.map { thread in
      ["wchan", "syscall", "stat"].map { name in
        "\(name) " + ((try? String(contentsOfFile: "\(tasks)/\(thread)/\(name)", encoding: .utf8)) ?? "?")
      }.joined(separator: "; ")
    }
    return "Process \(process.processIdentifier), \(threads.count) threads:\n" + lines.joined(separator: "\n")
  }

  /// Kills the child without warning.
  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

  /// Suspends and resumes the child.
  func stop() { Foundation.kill(process.processIdentifier, SIGSTOP) }
  func goOn() { Foundation.kill(process.processIdentifier, SIGCONT) }

  /// The last number that a killed child said. Only after every child was killed: one may hold another's output.
  func lastWord() -> Int64 {
    while number() != nil {}
    if !ended.wait() { Issue.record("The end of writer \(writer) was never told. \(standing)") }
    return acknowledged
  }

  deinit {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    // Foundation keeps a process whose end its starter did not wait for, and with it the pipe.
    try? output.fileHandleForReading.close()
  }
}
