import Foundation
import TestSupport

/// A running `crash-child`, and what it said.
final class WritingChild {
  let writer: Int64
  private let process = Process()
  private let output = Pipe()
  private var rest = Data()
  /// The last number that the child said is durable.
  private(set) var acknowledged: Int64 = 0

  init(_ kind: String, _ path: String, _ writer: Int64) throws {
    self.writer = writer
    process.executableURL = Self.executable
    process.arguments = [kind, path, "\(writer)"]
    process.standardOutput = output
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
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = rest[rest.startIndex..<end]
        rest = rest[(end + 1)...]
        guard let number = Int64(String(decoding: line, as: UTF8.self)) else { return nil }
        acknowledged = max(acknowledged, number)
        return number
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      rest.append(more)
    }
  }

  /// Kills the child without warning.
  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

  /// The last number that a killed child said. Only after every child was killed: one may hold another's output.
  func lastWord() -> Int64 {
    while number() != nil {}
    process.waitUntilExit()
    return acknowledged
  }

  deinit {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
  }
}
