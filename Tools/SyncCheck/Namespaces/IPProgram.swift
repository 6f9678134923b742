#if Sync && os(Linux)
import Foundation

/// The system's `ip`, of iproute2.
enum IPProgram {
  private static let path: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]).map { "\($0)/ip" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  /// Where it is. Throws where it is not installed.
  static func found() throws -> String {
    guard let path else { throw CheckFailed("there is no 'ip': install iproute2") }
    return path
  }

  /// Runs it, and gives the lines that it prints. Throws what it says where it fails. Waits for it: some milliseconds.
  @discardableResult static func run(_ arguments: [String]) throws -> [Substring] {
    let (process, output, problems) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: try found())
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = problems
    try process.run()
    let lines = IPProgram.lines(output)
    let complaint = IPProgram.lines(problems).first ?? "it says nothing"
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw CheckFailed("'ip \(arguments.joined(separator: " "))' has failed: \(complaint)")
    }
    return lines
  }

  private static func lines(_ pipe: Pipe) -> [Substring] {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n")
  }
}
#endif
