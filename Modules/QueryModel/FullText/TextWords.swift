/// Cuts a text into the words that `TEXT` compares: the one definition, for what is searched and for what is looked for.
///
/// A word is a run of letters and digits, folded as `[cd]` folds. What is neither parts words, and is nothing else; marks
/// and invisible characters (soft hyphens, joiners) part nothing and count for nothing. Chinese, Japanese and Korean write
/// no spaces that could be relied on: a run of their signs is cut into overlapping pairs, `東京都` into `東京` and `京都`, and
/// its last sign stands by itself too, so that every sign begins a word. Nothing depends on a locale or a dictionary.
///
/// Linear in the text, and needs memory for one copy of it where it is not all ASCII.
package struct TextWords {
  package enum Kind: Sendable, Hashable {
    case word
    /// Two signs that stand together.
    case pair
    /// The last sign of a run of several.
    case last
    /// A sign that has no neighbour.
    case alone
  }

  /// Of a longer word these count: an index keeps each word there is.
  package static let lettersMax = 64

  /// The number of these rules: raised when a text would be cut into other words, so that indexes are made anew.
  package static let rules = 1

  /// A word in UTF-8 and where it stands in the text, in bytes; false stops.
  package typealias Body = (_ word: [UInt8], _ kind: Kind, _ source: Range<Int>) -> Bool

  private struct Sign {
    var scalar: Unicode.Scalar
    var source: Range<Int>
  }

  private var word: [UInt8] = []
  private var letters = 0
  private var source = 0..<0
  /// The last two signs of a run: the one before is complete, the last may still take a part of a syllable.
  private var before: Sign?
  private var last: Sign?
  private var isStopped = false

  private init() {}

  /// Calls `body` with each word, in the order of the text. Bytes that are no UTF-8 part words.
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
          words.take(letters[scalar], place, body)
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

  /// Each word of a text once: what an index keeps of it.
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
    case .several(let parts): for part in parts { take(part, place, body) }
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
