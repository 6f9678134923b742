import Foundation

/// What a character is to words.
indirect enum TextLetter: Sendable, Hashable {
  /// It parts words.
  case none
  /// It parts nothing and counts for nothing: a mark, or a character that is not seen.
  case ignored
  /// A letter or a digit, folded.
  case letter(Unicode.Scalar)
  /// A sign of a writing without spaces.
  case sign(Unicode.Scalar)
  /// A character that is written as several.
  case several([TextLetter])
}

/// Folds characters one by one, and remembers those that took work.
struct TextLetters {
  private var known: [Unicode.Scalar: TextLetter] = [:]

  subscript(scalar: Unicode.Scalar) -> TextLetter {
    mutating get {
      switch scalar.value {
      case 0x4E00...0x9FFF, 0xAC00...0xD7A3: return .sign(scalar)  // most of Han, and the syllables of Hangul
      default: break
      }
      if let letter = known[scalar] { return letter }
      let letter = TextLetters.made(scalar)
      known[scalar] = letter
      return letter
    }
  }

  private static func made(_ scalar: Unicode.Scalar) -> TextLetter {
    let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.map(classified)
    let letters = parts.filter { $0 != .ignored }
    return letters.count == 1 ? letters[0] : letters.isEmpty ? (parts.isEmpty ? .none : .ignored) : .several(letters)
  }

  private static func classified(_ scalar: Unicode.Scalar) -> TextLetter {
    if TextFolding.isMark(scalar) { return .ignored }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
      .otherNumber:
      return isSign(scalar) ? .sign(scalar) : .letter(TextFolding.simpleCase(scalar))
    case .spacingMark: return .letter(scalar)
    // The space of no width is there to part words.
    case .format: return scalar.value == 0x200B ? .none : .ignored
    default: return .none
    }
  }

  /// Of Han, Hiragana, Katakana, Bopomofo and Hangul. Asked of letters and numbers alone.
  private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x11FF, 0x3005...0x3007, 0x3021...0x303C, 0x3041...0x318E, 0x31A0...0x31BF, 0x31F0...0x31FF,
      0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA960...0xA97C, 0xAC00...0xD7FB, 0xF900...0xFAFF, 0xFF66...0xFFDC,
      0x16FF0...0x16FFF, 0x1AFF0...0x1B16F, 0x20000...0x3FFFF:
      true
    default: false
    }
  }
}

/// Syllables that are written in parts are the same as those that are one character.
enum HangulSyllable {
  /// The syllable that a part makes with what stands before it; nil when it makes none.
  static func joining(_ a: Unicode.Scalar, _ b: Unicode.Scalar) -> Unicode.Scalar? {
    switch (a.value, b.value) {
    case (0x1100...0x1112, 0x1161...0x1175):
      Unicode.Scalar(0xAC00 + ((a.value - 0x1100) * 21 + (b.value - 0x1161)) * 28)
    case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (a.value - 0xAC00) % 28 == 0: Unicode.Scalar(a.value + (b.value - 0x11A7))
    default: nil
    }
  }
}
