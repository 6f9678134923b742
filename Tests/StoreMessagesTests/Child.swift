import Foundation

/// A running `message-child`.
final class Child {
  private let process = Process()

  init(_ arguments: [String]) throws {
    process.executableURL = Child.executable
    process.arguments = arguments
    try process.run()
  }

  /// Beside the tests' own program: the build puts both there.
  private static var executable: URL {
    let beside = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("message-child")
    if let beside, FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return tests.appendingPathComponent("message-child")
  }

  /// Waits for the end; true when it ended by itself.
  func ended() -> Bool {
    process.waitUntilExit()
    return process.terminationReason == .exit && process.terminationStatus == 0
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }
}
