#if os(Linux)
import Foundation
import Testing
import VivariumTestSupport

/// The clock of dates is set forward or back by years while a process works (`clock-child`): nothing ends too early, and nothing waits for
/// the years.
@Suite struct ClockTests {
  private func run(_ arguments: String...) throws -> String {
    let child = Process()
    child.executableURL = Bundle.main.bundleURL.appendingPathComponent("clock-child")
    child.arguments = arguments
    let output = Pipe()
    child.standardOutput = output
    child.standardError = output
    try child.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    child.waitUntilExit()
    return text
  }

  @Test func whoWaitsForTheRightToWriteWaitsByNoClockThatCanBeSet() throws {
    let folder = TemporaryDirectory("clocks")
    #expect(try run("waits", folder.url.path) == "done\n")
  }

  @Test func aMessageIsTriedAgainThoughTheClockIsSetForwardAndBack() throws { #expect(try run("retries") == "done\n") }
}
#endif
