import Foundation

/// One run of the `inspect` program, for tests of any target: it is built with all of them.
public struct InspectProcess: Sendable {
  public let status: Int32
  /// Whether it ended by itself, not by a signal.
  public let isExit: Bool
  public let output: String
  public let errors: String

  /// - Parameter fileBytesMax: the system ends the program with a signal where it would make a file longer; nil: never.
  public init(
    _ arguments: [String], input: FileHandle? = nil, output descriptor: FileHandle? = nil, fileBytesMax: Int? = nil
  ) throws {
    let process = Process()
    let program = try InspectProcess.program()
    if let fileBytesMax {
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      // A shell counts in blocks of 512 bytes.
      let limits = "ulimit -c 0; ulimit -f \(fileBytesMax / 512)"
      process.arguments = ["-c", limits + "; exec \"$0\" \"$@\"", program.path] + arguments
    } else {
      process.executableURL = program
      process.arguments = arguments
    }
    process.standardInput = input ?? FileHandle.nullDevice
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = descriptor ?? output.fileHandleForWriting
    process.standardError = errors
    try process.run()
    try output.fileHandleForWriting.close()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    status = process.terminationStatus
    isExit = process.terminationReason == .exit
    self.output = String(decoding: text, as: UTF8.self)
    self.errors = String(decoding: complaint, as: UTF8.self)
  }

  /// Whether it complained in exactly one line of its own.
  public var complainedInOneLine: Bool {
    errors.hasPrefix("inspect: ") && errors.hasSuffix("\n") && errors.count { $0 == "\n" } == 1 && output.isEmpty
  }

  /// The program lies beside the tests.
  public static func program() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles.first ?? URL(fileURLWithPath: CommandLine.arguments[0])
    let url = tests.deletingLastPathComponent().appending(path: "inspect")
    guard FileManager.default.isExecutableFile(atPath: url.path) else { throw CocoaError(.fileNoSuchFile) }
    return url
  }
}
