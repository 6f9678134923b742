import Foundation

/// The Swift samples that pages of Docs/ and doc comments of modules show: what a reader copies has to compile, so a test
/// target has each of them in its code, to the letter.
public enum ShownSamples {
  /// The parts of samples, between empty lines, that the sources beside `file` do not have, one line after the other.
  /// Spaces count for nothing.
  public static func withoutCode(
    pages: [String] = [], modules: [String] = [], beside file: StaticString = #filePath
  ) throws -> [String] {
    let tests = URL(fileURLWithPath: "\(file)").deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    let code = try sources(in: tests).map(plain)
    var shown: [String] = []
    for page in pages { shown += samples(try text(root.appendingPathComponent("Docs/" + page)), prefix: "") }
    for module in modules {
      for source in try sources(in: root.appendingPathComponent("Modules/" + module)) { shown += samples(source, prefix: "///") }
    }
    return shown.map(plain).filter { sample in !code.contains { $0.contains(sample) } }
  }

  private static func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }

  private static func sources(in folder: URL) throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return try paths.filter { $0.hasSuffix(".swift") }.map { try text(folder.appendingPathComponent($0)) }
  }

  /// The lines between fences, without what each line begins with.
  private static func samples(_ text: String, prefix: String) -> [String] {
    var (samples, sample): ([String], [Substring]?) = ([], nil)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = line.drop { $0 == " " }
      guard trimmed.hasPrefix(prefix) else { continue }
      let content = trimmed.dropFirst(prefix.count)
      if content.drop(while: { $0 == " " }).hasPrefix("```") {
        if let whole = sample {
          let parts = whole.split { $0.allSatisfy { $0 == " " } }
          samples += parts.map { $0.joined(separator: "\n") }
        }
        sample = sample == nil && content.hasSuffix("```swift") ? [] : nil
      } else {
        sample?.append(content)
      }
    }
    return samples
  }

  private static func plain(_ text: String) -> String {
    text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
      .joined(separator: "\n")
  }
}
