import Foundation

/// Where the program lies: beside the tests.
enum TasksProgram {
  static func url() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles.first ?? URL(fileURLWithPath: CommandLine.arguments[0])
    let url = tests.deletingLastPathComponent().appending(path: "vivarium-tasks")
    guard FileManager.default.isExecutableFile(atPath: url.path) else { throw CocoaError(.fileNoSuchFile) }
    return url
  }
}

/// Ends a process that hangs, so that a fault is a failed test: far later than any that does not.
func killLate(_ process: Process) {
  let id = process.processIdentifier
  DispatchQueue.global().asyncAfter(deadline: .now() + 900) { [weak process] in
    if process?.isRunning == true { kill(id, SIGKILL) }
  }
}

/// The program without a terminal: commands in, lines out.
final class ScriptProcess {
  private let process = Process()
  private let commands = Pipe()
  private let output = Pipe()
  private var rest = ""

  init(_ arguments: [String], environment: [String: String] = [:]) throws {
    process.executableURL = try TasksProgram.url()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = commands
    process.standardOutput = output
    try process.run()
    killLate(process)
    try output.fileHandleForWriting.close()
    try commands.fileHandleForReading.close()
  }

  func say(_ lines: String...) {
    commands.fileHandleForWriting.write(Data(lines.map { $0 + "\n" }.joined().utf8))
  }

  /// The next line that it writes; nil when it writes no more.
  func line() -> String? {
    while !rest.contains("\n") {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      rest += String(decoding: data, as: UTF8.self)
    }
    let parts = rest.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    rest = String(parts[1])
    return String(parts[0])
  }

  func lines(_ count: Int) -> [String] { (0..<count).compactMap { _ in line() } }

  /// Ends its input; gives its status.
  func end() throws -> Int32 {
    try commands.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -1
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
