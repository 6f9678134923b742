import Foundation
import Synchronization

/// Another program of this package, started by one of it: lines in, lines out. It ends with who started it, at the latest.
public final class ChildProgram {
  private static let running = Mutex<Set<Int32>>([])

  private let process = Process()
  private let commands = Pipe()
  private let output = Pipe()
  private var rest: [UInt8] = []

  /// A program that lies beside the one that runs.
  public convenience init(_ name: String, _ arguments: [String], in directory: URL? = nil) throws {
    try self.init(at: try ChildProgram.url(name), arguments, in: directory)
  }

  private init(at url: URL, _ arguments: [String], in directory: URL? = nil) throws {
    process.executableURL = url
    process.arguments = arguments
    process.standardInput = commands
    process.standardOutput = output
    if let directory { process.currentDirectoryURL = directory }
    try process.run()
    let id = process.processIdentifier
    _ = ChildProgram.running.withLock { $0.insert(id) }
    try output.fileHandleForWriting.close()
    try commands.fileHandleForReading.close()
  }

  /// Where the programs are: beside who runs, or beside his tests.
  public static func url(_ name: String) throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let own = bundles.first ?? Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    let url = own.deletingLastPathComponent().appending(path: name)
    guard FileManager.default.isExecutableFile(atPath: url.path) else {
      throw Missing(name: name, folder: url.deletingLastPathComponent().path)
    }
    return url
  }

  /// A program that was not built.
  public struct Missing: Error, CustomStringConvertible {
    let name: String
    let folder: String
    public var description: String { "There is no program '\(name)' in '\(folder)': build it first ('swift build --product \(name)')." }
  }

  /// A command that ends by itself: what it prints, and its status.
  public static func run(_ name: String, _ arguments: String...) throws -> (output: String, status: Int32) {
    try run(name, arguments)
  }

  /// As `run`, of arguments in a list.
  public static func run(_ name: String, _ arguments: [String]) throws -> (output: String, status: Int32) {
    try ended(ChildProgram(name, arguments))
  }

  /// As `run`, of a program of the system.
  public static func run(atPath path: String, _ arguments: [String]) throws -> (output: String, status: Int32) {
    try ended(ChildProgram(at: URL(fileURLWithPath: path), arguments))
  }

  private static func ended(_ program: ChildProgram) -> (output: String, status: Int32) {
    var lines: [String] = []
    while let line = program.line() { lines.append(line) }
    return (lines.joined(separator: "\n"), program.end())
  }

  /// A line to its input.
  public func say(_ line: String) { try? commands.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

  /// The next line that it writes; nil when it writes no more.
  public func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest.removeFirst(end + 1) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { return nil }
      rest += data
    }
  }

  /// Reads whatever it still writes, so that it never waits for a reader.
  public func ignoreOutput() {
    output.fileHandleForReading.readabilityHandler = { if $0.availableData.isEmpty { $0.readabilityHandler = nil } }
  }

  /// The number of its process.
  public var processID: Int32 { process.processIdentifier }

  /// Whether it has not ended.
  public var isRunning: Bool { process.isRunning }

  /// As a power cut of it alone.
  public func killNow() {
    kill(process.processIdentifier, SIGKILL)
    waitUntilExit()
  }

  /// Kills all that run, for who ends in a hurry.
  public static func killAll() { running.withLock { for id in $0 { kill(id, SIGKILL) } } }

  private func waitUntilExit() {
    process.waitUntilExit()
    let id = process.processIdentifier
    _ = ChildProgram.running.withLock { $0.remove(id) }
  }

  /// Ends its input, waits for it, and gives its status; -1 where it was ended by a signal.
  @discardableResult public func end() -> Int32 {
    try? commands.fileHandleForWriting.close()
    waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -1
  }

  /// Asks it to end, and gives its status.
  @discardableResult public func terminate() -> Int32 {
    process.terminate()
    return end()
  }

  deinit {
    let id = process.processIdentifier
    if process.isRunning { kill(id, SIGKILL) }
    _ = ChildProgram.running.withLock { $0.remove(id) }
  }
}
