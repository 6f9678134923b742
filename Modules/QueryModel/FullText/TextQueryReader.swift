/// Parses the text of a full-text query: pieces between white space, each of which may begin with `-` and end with `*`.
struct TextQueryReader {
  private let bytes: [UInt8]
  private(set) var terms: [TextTerm] = []
  private(set) var required: UInt64 = 0
  private(set) var excluded: [UInt64] = []
  private var firstExclusion: Int?

  private static let star = UInt8(ascii: "*")

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func read() throws(TextQueryError) {
    // Required terms come first.
    let pieces = pieces()
    for piece in pieces where bytes[piece.lowerBound] != UInt8(ascii: "-") { required |= try mask(of: piece) }
    for piece in pieces where bytes[piece.lowerBound] == UInt8(ascii: "-") {
      let mask = try mask(of: piece.dropFirst())
      if mask == 0 { continue }
      if firstExclusion == nil { firstExclusion = piece.lowerBound }
      if !excluded.contains(mask) { excluded.append(mask) }
    }
    if required != 0 { return }
    if let firstExclusion {
      throw TextQueryError(
        code: .onlyExclusions, message: "Every word is excluded.", remedy: "Add a word that must be there, or use NOT … TEXT.",
        position: firstExclusion)
    }
    throw TextQueryError(
      code: .noWords, message: "There is no word to look for.", remedy: "Write at least one letter or digit.", position: 0)
  }

  /// The non-empty runs of bytes between white space.
  private func pieces() -> [Range<Int>] {
    var result: [Range<Int>] = []
    var (start, offset) = (0, 0)
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      let end = offset + UTF8.width(scalar)
      if scalar.properties.isWhitespace {
        if offset > start { result.append(start..<offset) }
        start = end
      }
      offset = end
    }
    if offset > start { result.append(start..<offset) }
    return result
  }

  /// The terms of a piece's words, as bits.
  private mutating func mask(of piece: Range<Int>) throws(TextQueryError) -> UInt64 {
    var piece = piece
    let isPrefix = piece.last.map { bytes[$0] == TextQueryReader.star } ?? false
    if isPrefix { piece.removeLast() }
    if let stray = piece.first(where: { bytes[$0] == TextQueryReader.star }) { throw strayStar(stray) }
    var found: [(term: TextTerm, end: Int)] = []
    bytes.withUnsafeBytes { all in
      TextWords.forEach(in: UnsafeRawBufferPointer(rebasing: all[piece])) { word, kind, source in
        switch kind {
        case .word, .pair: found.append((.word(word), source.upperBound))
        // A single character is searched wherever it occurs: in a longer run it begins a pair, or is the last.
        case .alone: found.append((.prefix(word), source.upperBound))
        case .last: break
        }
        return true
      }
    }
    if isPrefix {
      guard let last = found.last, last.end == piece.count else { throw strayStar(piece.upperBound) }
      // Pairs are found inside longer runs anyway.
      if case .word(let word) = last.term, !isPair(word) { found[found.count - 1].term = .prefix(word) }
    }
    var mask: UInt64 = 0
    for (term, _) in found { mask |= 1 << UInt64(try place(of: term, at: piece.lowerBound)) }
    return mask
  }

  /// Whether the word is a pair, which `TextWords` makes only of characters of scripts without spaces.
  private func isPair(_ word: [UInt8]) -> Bool {
    var isPair = false
    word.withUnsafeBytes { TextWords.forEach(in: $0) { _, kind, _ in isPair = kind == .pair; return false } }
    return isPair
  }

  private mutating func place(of term: TextTerm, at position: Int) throws(TextQueryError) -> Int {
    if let at = terms.firstIndex(of: term) { return at }
    guard terms.count < TextQuery.termsMax else {
      throw TextQueryError(
        code: .tooManyWords, message: "More than \(TextQuery.termsMax) words are looked for.", remedy: "Look for fewer.",
        position: position)
    }
    terms.append(term)
    return terms.count - 1
  }

  private func strayStar(_ position: Int) -> TextQueryError {
    TextQueryError(
      code: .strayStar, message: "'*' stands behind the beginning of a word.", remedy: "Write it as in data*.", position: position)
  }
}
