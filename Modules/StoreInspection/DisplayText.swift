import StoreValues

/// Text for a terminal: contains nothing that moves the cursor, and has a known width.
package enum DisplayText {
  /// The text on one line, with control characters and line ends escaped as in Swift. Text in a store can come from anybody, and
  /// must not be able to set a terminal's title or overwrite other lines.
  package static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isUnsafe(scalar): result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Whether a terminal might interpret the character, or display what follows it elsewhere.
  static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool { scalar.isObeyedByTerminals }

  /// The number of terminal columns the text takes: 2 for East Asian wide characters and emoji.
  static func width(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    character.unicodeScalars.reduce(0) { max($0, width($1)) }
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }

  /// The text, cut and ended with `…` if it is wider than `widthMax`.
  static func cut(_ text: String, to widthMax: Int) -> String {
    if text.utf8.count <= widthMax || width(text) <= widthMax { return text }
    var result = ""
    var used = 1
    for character in text {
      used += width(character)
      if used > widthMax { break }
      result.append(character)
    }
    return result + "…"
  }
}

extension ShownField {
  /// The number of list elements that a table shows.
  static let displayedElementCount = 5

  /// The text of the field in a table cell.
  var displayText: String {
    switch self {
    case .value(.null): return "nil"
    case .value(.data(let data)): return "\(data.count) byte\(data.count == 1 ? "" : "s")"
    case .list(let elements, let count):
      let shown = elements.prefix(ShownField.displayedElementCount).map(\.displayText).joined(separator: ", ")
      return count > ShownField.displayedElementCount ? "[\(shown), … \(count) in all]" : "[\(shown)]"
    case .map(let entries, let count):
      let shown = entries.prefix(ShownField.displayedElementCount)
        .map { "\(DisplayText.escaped($0.key)): \($0.value.displayText)" }.joined(separator: ", ")
      return count > ShownField.displayedElementCount ? "{\(shown), … \(count) in all}" : "{\(shown)}"
    case .value, .object: return DisplayText.escaped(scalarText ?? "")
    }
  }
}
