import Foundation
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct QuickStartTests {
  @Test(arguments: Engine.allCases) func theQuickStartRuns(engine: Engine) throws {
    let (configuration, directory) = engine.place([Person.self, Dog.self])
    defer { withExtendedLifetime(directory) {} }
    let (names, owners) = try quickStart(Store(configuration))
    #expect(names == ["Jane"] && owners == 1)
  }

  @Test func theQuickStartKeepsItsFile() throws {
    let directory = TemporaryDirectory("integration")
    #expect(try quickStart(openStore(at: directory.file())).names == ["Jane"])
    #expect(try quickStart(openStore(at: directory.file())).names == ["Jane", "Jane"])
  }

  @Test func theReadmeShowsTheseLines() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let source = try String(contentsOf: folder.appendingPathComponent("QuickStart.swift"), encoding: .utf8)
    let readme = try String(
      contentsOf: folder.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("README.md"),
      encoding: .utf8)
    let code = try #require(source.between("// README begin\n", "// README end\n"))
    let shown = try #require(readme.between("```swift\n", "```\n"))
    #expect(shown == code)
  }
}

extension String {
  /// The text between the first `opening` and the next `closing`.
  fileprivate func between(_ opening: String, _ closing: String) -> String? {
    guard let start = range(of: opening)?.upperBound, let end = self[start...].range(of: closing)?.lowerBound
    else { return nil }
    return String(self[start..<end])
  }
}
