import Foundation

/// The public types of errors that the modules declare.
enum DeclaredErrors {
  /// By the type's name, with the cases of its enumeration of codes: `public struct TransportError: Error`, `public enum Code: String`,
  /// `case closed`. Without codes where it has none, or an open list.
  static let all: [String: [String]] = {
    var found: [String: [String]] = [:]
    for text in DeclaredCodes.sources where text.contains("Error") {
      var (type, end): (String?, String?) = (nil, nil)
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        // The expression takes long for each line of all modules.
        if line.utf8.last == UInt8(ascii: "{"), line.contains("Error"), let name = errorType(String(line)) {
          type = name
          found[name] = found[name] ?? []
        }
        if line == "}" { type = nil }
        guard let type else { continue }
        let words = line.split(separator: " ")
        if let last = end {
          if words.first == "case", words.count == 2 { found[type, default: []].append(String(words[1])) }
          if line == last { end = nil }
        } else if words.starts(with: ["public", "enum", "Code:"]) {
          end = line.prefix { $0 == " " } + "}"
        }
      }
    }
    return found
  }()

  /// The type that a line declares to be an error; nil if it declares none, or not for others.
  private static func errorType(_ line: String) -> String? {
    let declaration = #/^ *(?:public (?:final )?(?:struct|enum|class|actor)|extension) ([A-Za-z.]+): ([^{]*)/#
    guard let match = line.firstMatch(of: declaration) else { return nil }
    let protocols = match.2.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    return protocols.contains("Error") ? String(match.1) : nil
  }
}
