import Foundation
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct ModelsGuideTests {
  private static let models: [any SchemaDescribing.Type] = [
    Guide.Project.self, Guide.Worker.self, Guide.Step.self, Guide.Office.self, Guide.Reading.self,
  ]

  @Test func theGuideRuns() throws {
    let configuration = Engine.reference.configuration(URL(fileURLWithPath: "/"), Self.models)
    let store = try Store(configuration)
    #expect(try Guide.objects(in: store) == ("Bridge", 2, true))
    let bridge = try #require(store.objects(Guide.Project.self).first)
    #expect(bridge.stepCount == 2 && bridge.tags.count == 2 && bridge.extra["lanes"]?.int == 2)
    #expect(try Guide.projecting(in: store) == ["Bridge: Plan, Build", "Tunnel: Dig"])
    #expect(try Guide.reading(in: store) == (["Bridge", "Tunnel"], [nil, nil], 1))
    #expect(try Guide.values(in: store) == ["warm"])
    try store.write { bridge.office?.address.city = "Ghent" }
    #expect(Guide.asking(in: store).map(\.name) == ["Bridge"])
    try Guide.deleting(in: store)
    #expect(store.objects(Guide.Step.self).map(\.title) == ["Plan", "Build", "Dig"])
    #expect(try Guide.migrating(configuration).schemaVersion == 2)
  }

  @Test func theGuideShowsTheseLines() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let source = try String(contentsOf: folder.appendingPathComponent("ModelsGuide.swift"), encoding: .utf8)
    let root = folder.deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("Docs/Models.md"), encoding: .utf8)
    let shown = page.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "```").first }
    let code = source.components(separatedBy: "// Guide: ").dropFirst()
      .filter { !$0.hasPrefix("end") }
      .map { $0.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().joined(separator: "\n") }
    func plain(_ text: String) -> String {
      text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
    #expect(shown.map(plain) == code.map(plain))
  }
}
