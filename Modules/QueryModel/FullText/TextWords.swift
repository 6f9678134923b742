/// Splits a text into the words that `TEXT` compares: the only definition, for texts and for queries.
///
/// A word is a run of letters and digits, folded as by `[cd]`. Other characters only separate words, except that marks and
/// invisible characters (soft hyphens, joiners) are ignored. Chinese, Japanese and Korean have no reliable spaces: a run of
/// their characters is split into overlapping pairs, `東京都` into `東京` and `京都`, and its last character is also a word, so that
/// every character begins a word. Independent of locales and dictionaries.
///
/// Linear in the text, with memory for one copy of it unless it is all ASCII.
package struct TextWords {
  package enum Kind: Sendable, Hashable {
    case word
    /// Two adjacent characters of such a run.
    case pair
    /// The last character of a run of several.
    case last
    /// A character without neighbours.
    case alone
  }

  /// The significant letters of a longer word, because an index stores every word.
  package static let lettersMax = 64

  /// The version of these rules: incremented when texts are split differently, so that indexes are rebuilt.
  package static let rules = 1

  /// A word in UTF-8 and its range in the text, in bytes; false stops.
  package typealias Body = (_ word: [UInt8], _ kind: Kind, _ source: Range<Int>) -> Bool

  private struct Sign {
    var scalar: Unicode.Scalar
    var source: Range<Int>
  }

  private var word: [UInt8] = []
  private var letters = 0
  private var source = 0..<0
  /// The last two characters of a run: the former is complete, the latter may still get a part of a syllable.
  private var before: Sign?
  private var last: Sign?
  private var isStopped = false

  private init() {}

  /// Calls `body` with each word, in text order. Invalid UTF-8 separates words.
  package static func forEach(in text: UnsafeRawBufferPointer, _ body: Body) {
    var words = TextWords()
    var bits: UInt8 = 0
    for byte in text { bits |= byte }
    if bits < 0x80 {
      for (at, byte) in text.enumerated() {
        words.take(ascii: byte, at..<at + 1, body)
        if words.isStopped { return }
      }
    } else {
      var letters = TextLetters()
      var offset = 0
      for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
        let place = offset..<offset + UTF8.width(scalar)
        offset = place.upperBound
        if scalar.value < 0x80 {
          words.take(ascii: UInt8(truncatingIfNeeded: scalar.value), place, body)
        } else {
          let letter = letters[scalar]
          if case .several(let group) = letter {
            for part in letters.parts(group) { words.take(part, place, body) }
          } else {
            words.take(letter, place, body)
          }
        }
        if words.isStopped { return }
      }
    }
    words.end(body)
  }

  package static func forEach(in text: String, _ body: Body) {
    var text = text
    text.withUTF8 { forEach(in: UnsafeRawBufferPointer($0), body) }
  }

  /// The distinct words of a text, as stored by an index.
  package static func all(in text: UnsafeRawBufferPointer) -> Set<[UInt8]> {
    var words: Set<[UInt8]> = []
    forEach(in: text) { word, _, _ in
      words.insert(word)
      return true
    }
    return words
  }

  private mutating func take(ascii byte: UInt8, _ place: Range<Int>, _ body: Body) {
    switch byte {
    case 97...122, 48...57: append(byte, place, body)
    case 65...90: append(byte | 32, place, body)
    default: end(body)
    }
  }

  private mutating func append(_ byte: UInt8, _ place: Range<Int>, _ body: Body) {
    if last != nil { endRun(body) }
    if letters < TextWords.lettersMax { word.append(byte) }
    grow(place)
  }

  private mutating func take(_ letter: TextLetter, _ place: Range<Int>, _ body: Body) {
    switch letter {
    case .none: end(body)
    case .ignored:
      if letters > 0 { source = source.lowerBound..<place.upperBound }
      if let sign = last { last?.source = sign.source.lowerBound..<place.upperBound }
    case .letter(let scalar):
      if last != nil { endRun(body) }
      if letters < TextWords.lettersMax { word.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
      grow(place)
    case .sign(let scalar): append(sign: scalar, place, body)
    case .several: break  // taken apart before
    }
  }

  private mutating func grow(_ place: Range<Int>) {
    source = (letters == 0 ? place.lowerBound : source.lowerBound)..<place.upperBound
    letters += 1
  }

  private mutating func append(sign scalar: Unicode.Scalar, _ place: Range<Int>, _ body: Body) {
    if letters > 0 { endWord(body) }
    if let sign = last, let syllable = HangulSyllable.joining(sign.scalar, scalar) {
      last = Sign(scalar: syllable, source: sign.source.lowerBound..<place.upperBound)
      return
    }
    if let last {
      if let before { give([before, last], .pair, body) }
      before = last
    }
    last = Sign(scalar: scalar, source: place)
  }

  private mutating func end(_ body: Body) {
    if letters > 0 { endWord(body) }
    if last != nil { endRun(body) }
  }

  private mutating func endWord(_ body: Body) {
    letters = 0
    if !isStopped, !body(word, .word, source) { isStopped = true }
    word.removeAll(keepingCapacity: true)
  }

  private mutating func endRun(_ body: Body) {
    if let last {
      if let before { give([before, last], .pair, body) }
      give([last], before == nil ? .alone : .last, body)
    }
    (before, last) = (nil, nil)
  }

  private mutating func give(_ signs: [Sign], _ kind: Kind, _ body: Body) {
    guard !isStopped, let first = signs.first, let end = signs.last else { return }
    var bytes: [UInt8] = []
    for sign in signs { bytes.append(contentsOf: UTF8.encode(sign.scalar) ?? UTF8.encodedReplacementCharacter) }
    if !body(bytes, kind, first.source.lowerBound..<end.source.upperBound) { isStopped = true }
  }
}
