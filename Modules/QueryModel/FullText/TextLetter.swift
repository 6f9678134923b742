import Foundation

/// The role of a character in words.
enum TextLetter: Sendable, Hashable {
  /// Separates words.
  case none
  /// Ignored without separating: a mark, or an invisible character.
  case ignored
  /// A letter or a digit, folded.
  case letter(Unicode.Scalar)
  /// A character of a script without spaces.
  case sign(Unicode.Scalar)
  /// A character that decomposes into several: their index among the groups of `TextLetters`.
  case several(Int)
}

/// Folds single characters and caches the expensive results, one for each slot: a text has few different ones, mostly close
/// together.
struct TextLetters {
  private static let places = 1024
  /// 0: unused slot; that character is never looked up.
  private var scalars = [UInt32](repeating: 0, count: places)
  private var letters = [TextLetter](repeating: .none, count: places)
  private var groups: [[TextLetter]] = []

  subscript(scalar: Unicode.Scalar) -> TextLetter {
    mutating get {
      switch scalar.value {
      case 0x4E00...0x9FFF, 0xAC00...0xD7A3: return .sign(scalar)  // most of Han, and the syllables of Hangul
      default: break
      }
      let place = Int(scalar.value) & (TextLetters.places - 1)
      if scalars[place] == scalar.value { return letters[place] }
      let letter = made(scalar)
      scalars[place] = scalar.value
      letters[place] = letter
      return letter
    }
  }

  /// The parts of a character that decomposes into several.
  func parts(_ group: Int) -> [TextLetter] { groups[group] }

  private mutating func made(_ scalar: Unicode.Scalar) -> TextLetter {
    let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.map(TextLetters.classified)
    let letters = parts.filter { $0 != .ignored }
    if letters.count < 2 { return letters.first ?? (parts.isEmpty ? .none : .ignored) }
    // Reuses the group if only its cache slot was overwritten.
    if let known = groups.firstIndex(of: letters) { return .several(known) }
    groups.append(letters)
    return .several(groups.count - 1)
  }

  private static func classified(_ scalar: Unicode.Scalar) -> TextLetter {
    if TextFolding.isMark(scalar) { return .ignored }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
      .otherNumber:
      return isSign(scalar) ? .sign(scalar) : .letter(TextFolding.simpleCase(scalar))
    case .spacingMark: return .letter(scalar)
    // The zero-width space exists to separate words.
    case .format: return scalar.value == 0x200B ? .none : .ignored
    default: return .none
    }
  }

  /// Han, Hiragana, Katakana, Bopomofo and Hangul. Only called for letters and numbers.
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

/// Treats syllables written in parts like those that are one character.
enum HangulSyllable {
  /// The syllable formed by a part and its predecessor; nil if they form none.
  static func joining(_ a: Unicode.Scalar, _ b: Unicode.Scalar) -> Unicode.Scalar? {
    switch (a.value, b.value) {
    case (0x1100...0x1112, 0x1161...0x1175):
      Unicode.Scalar(0xAC00 + ((a.value - 0x1100) * 21 + (b.value - 0x1161)) * 28)
    case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (a.value - 0xAC00) % 28 == 0: Unicode.Scalar(a.value + (b.value - 0x11A7))
    default: nil
    }
  }
}
