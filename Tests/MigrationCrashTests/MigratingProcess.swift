import Foundation

/// A `migration-child` that has ended, one way or the other.
struct MigratingProcess {
  private let process = Process()
  private let output = Pipe()

  init(_ kind: String, _ path: String, step: Int = 0, turns: Int = 0) throws {
    process.executableURL = MigratingProcess.executable
    process.arguments = [kind, path, "\(step)", "\(turns)"]
    process.standardOutput = output
    try process.run()
  }

  /// Beside the tests' own program: the build puts both there.
  private static var executable: URL {
    let beside = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("migration-child")
    if let beside, FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return tests.appendingPathComponent("migration-child")
  }

  /// Waits for its end: true when a signal ended it.
  func wasKilled() -> Bool {
    _ = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationReason == .uncaughtSignal
  }

  /// Waits for its end, and gives the number that it printed.
  func number() -> Int? {
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Int(text.filter(\.isNumber))
  }
}
