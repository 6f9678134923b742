import Foundation
import Testing
import VivariumTestSupport

@Suite struct DemoProgramTests {
  private let folder = TemporaryDirectory()

  @Test func whatATerminalWouldObeyInASubjectIsEscaped() throws {
    let repository = folder.file("repository").path
    #expect(try run("git", ["init", "-q", repository]).status == 0)
    try Data("a".utf8).write(to: folder.file("repository").appending(path: "file"))
    #expect(try run("git", ["-C", repository, "add", "file"]).status == 0)
    let subject = "red\u{1B}[31m and \u{202E}turned"
    let made = try run(
      "git",
      ["-C", repository, "-c", "user.name=A\u{1B}]0;title\u{7}nn", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false",
       "commit", "-q", "--no-verify", "-m", subject])
    #expect(made.status == 0)
    let demo = try run(program().path, ["--backend", "memory", "--git", repository])
    #expect(demo.status == 0)
    // It is the only commit, and so the newest that is watched.
    let watched = demo.output.split(separator: "\n").filter { $0.contains("; row 0") }
    #expect(watched.count == 2)
    for line in watched { #expect(line.contains("red\\u{1B}[31m and \\u{202E}turned"), "\(line.debugDescription)") }
    for obeyed: Unicode.Scalar in ["\u{1B}", "\u{7}", "\u{202E}"] { #expect(!demo.output.unicodeScalars.contains(obeyed)) }
  }

  /// Where the program lies: beside the tests.
  private func program() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles.first ?? URL(fileURLWithPath: CommandLine.arguments[0])
    let url = tests.deletingLastPathComponent().appending(path: "vivarium-demo")
    guard FileManager.default.isExecutableFile(atPath: url.path) else { throw CocoaError(.fileNoSuchFile) }
    return url
  }

  private func run(_ program: String, _ arguments: [String]) throws -> (output: String, status: Int32) {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (String(decoding: data, as: UTF8.self), process.terminationStatus)
  }
}
