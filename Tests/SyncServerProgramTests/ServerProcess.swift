import Foundation

/// The server's program, on a folder, until it is ended or killed.
final class ServerProcess {
  private let process = Process()
  private let output = Pipe()
  /// Where it listens.
  let port: Int

  init(folder: String, port: Int = 0) throws {
    process.executableURL = try ServerProcess.url()
    process.arguments = ["serve", "--folder", folder, "--port", "\(port)"]
    process.standardOutput = output
    try process.run()
    let id = process.processIdentifier
    DispatchQueue.global().asyncAfter(deadline: .now() + 900) { [weak process] in
      if process?.isRunning == true { kill(id, SIGKILL) }
    }
    try output.fileHandleForWriting.close()
    var line = ""
    while !line.contains("\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw CocoaError(.fileReadUnknown) }
      line += String(decoding: data, as: UTF8.self)
    }
    self.port = Int(line.split(separator: "\n")[0].split(separator: ":").last ?? "") ?? 0
  }

  /// One command of the program that ends by itself: what it prints, and its status.
  static func run(_ arguments: String...) throws -> (output: String, status: Int32) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = try url()
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = Pipe()
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
  }

  private static func url() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles.first ?? URL(fileURLWithPath: CommandLine.arguments[0])
    let url = tests.deletingLastPathComponent().appending(path: "vivarium-server")
    guard FileManager.default.isExecutableFile(atPath: url.path) else { throw CocoaError(.fileNoSuchFile) }
    return url
  }

  func killNow() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Asks it to end, and gives its status.
  func end() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -1
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}
