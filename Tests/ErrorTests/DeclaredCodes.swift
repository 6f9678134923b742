import Foundation

/// The codes of errors as the modules declare them, and as Docs/Errors.md lists them.
enum DeclaredCodes {
  /// The types of errors that have an open list of codes.
  static let types = ["StoreError", "StorageError", "QueryError", "TextQueryError"]

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL

  /// The texts of the modules' files.
  static let sources: [String] = {
    let modules = root.appending(path: "Modules")
    let files = FileManager.default.enumerator(at: modules, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    return files.filter { $0.pathExtension == "swift" }.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
  }()

  /// "StoreError.corrupt", …: every `static let name = Self(rawValue: "code")` in an extension of the type's `Code`.
  static let all: [String] = {
    var found: Set<String> = []
    for text in sources where text.contains(".Code {") {
      var type: String?
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if let named = types.first(where: { line.hasPrefix("extension \($0).Code {") }) { type = named }
        if line == "}" { type = nil }
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
        guard let type, line.contains("static let"), line.contains("= Self(rawValue:"), parts.count == 3 else { continue }
        found.insert("\(type).\(parts[1])")
      }
    }
    return found.sorted()
  }()

  /// The codes in the tables of the page, by its headings: "## StoreError", "| `corrupt` | …".
  static func shown() throws -> [String] {
    var type = ""
    var shown: [String] = []
    for line in try page().split(separator: "\n") {
      if line.hasPrefix("## ") { type = String(line.dropFirst(3)) }
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard types.contains(type), line.hasPrefix("| `"), let first = cells.first else { continue }
      shown.append("\(type).\(first.trimmingCharacters(in: CharacterSet(charactersIn: "`")))")
    }
    return shown
  }

  static func page() throws -> String { try String(contentsOf: root.appending(path: "Docs/Errors.md"), encoding: .utf8) }

  /// The declared codes of a type, without its name.
  static func codes(of type: String) -> Set<String> {
    Set(all.filter { $0.hasPrefix(type + ".") }.map { String($0.dropFirst(type.count + 1)) })
  }

  /// The text of a file of the tests; nil if there is none.
  static func test(_ path: String) -> String? {
    try? String(contentsOf: root.appending(path: "Tests").appending(path: path), encoding: .utf8)
  }
}
