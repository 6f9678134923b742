/// One line as a terminal shows it: its columns counted, and nothing in it that a terminal obeys.
enum TerminalLine {
  /// As much of a text as fits into so many columns, with spaces for control characters, line ends of all kinds and overrides of the
  /// writing direction: titles come from anybody who writes to the file.
  static func clipped(_ text: String, to columns: Int) -> String {
    var (result, room) = ("", columns)
    for character in text {
      let shown: Character = character.unicodeScalars.contains(where: isObeyed) ? " " : character
      room -= width(shown)
      if room < 0 { break }
      result.append(shown)
    }
    return result
  }

  private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    default: false
    }
  }

  /// How many columns a character takes.
  private static func width(_ character: Character) -> Int { character.unicodeScalars.map(width).max() ?? 0 }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// Where Unicode has its wide characters: scripts of East Asia, and full-width forms.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
    0x1F900...0x1F9FF, 0x20000...0x3FFFD,
  ]
}
