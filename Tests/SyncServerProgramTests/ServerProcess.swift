import Foundation

/// The server's program, on a folder or a database, until it is ended or killed.
final class ServerProcess {
  private let process = Process()
  private let output = Pipe()
  /// Where it listens.
  let port: Int

  /// - Parameter log: a file that gets what it logs.
  convenience init(folder: String, port: Int = 0, log: String? = nil, _ arguments: String...) throws {
    try self.init(["--folder", folder] + arguments, port: port, log: log)
  }

  convenience init(postgres address: String, log: String? = nil) throws { try self.init(["--postgres", address], port: 0, log: log) }

  private init(_ arguments: [String], port: Int, log: String?) throws {
    process.executableURL = try ServerProcess.url()
    process.arguments = ["serve", "--port", "\(port)"] + arguments
    process.standardOutput = output
    if let log {
      if !FileManager.default.fileExists(atPath: log) { _ = FileManager.default.createFile(atPath: log, contents: nil) }
      process.standardError = FileHandle(forWritingAtPath: log)
    } else {
      // Never the tests' own: a server that outlives tests that crashed would hold it open, and who reads it would wait for ever.
      process.standardError = FileHandle.nullDevice
    }
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

  /// One command of the program that ends by itself: what it prints, what it says is wrong, and its status; `input` is what is typed.
  static func run(_ arguments: String...) throws -> (output: String, problem: String, status: Int32) {
    try run(arguments: arguments, input: "")
  }

  static func run(arguments: [String], input: String) throws -> (output: String, problem: String, status: Int32) {
    let (process, output, problems, typed) = (Process(), Pipe(), Pipe(), Pipe())
    process.executableURL = try url()
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = problems
    process.standardInput = typed
    try process.run()
    try typed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try typed.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let problem = problems.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: data, as: UTF8.self), String(decoding: problem, as: UTF8.self), process.terminationStatus)
  }

  /// Tells it that its certificate is another one.
  func hangUp() { kill(process.processIdentifier, SIGHUP) }

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
