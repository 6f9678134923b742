extension TextQuery {
  /// Whether the text has every required word and no excluded one. Linear in the text, times the number of words; stops as soon
  /// as the result is certain.
  public func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
  }

  /// The same for a text in UTF-8.
  package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var found: UInt64 = 0
    let (required, isOpen) = (required, !excluded.isEmpty)
    // Passed as a buffer instead of captured: the closure is compiled into the loop and called for each character, and would
    // count references each time.
    terms.withUnsafeBufferPointer { terms in
      TextWords.forEach(in: text) { word, _, _ in
        found |= TextQuery.places(of: word, in: terms, among: ~found)
        return isOpen || found & required != required
      }
    }
    return holds(found)
  }

  /// Whether a text with these terms passes.
  func holds(_ found: UInt64) -> Bool {
    found & required == required && !excluded.contains { found & $0 == $0 }
  }

  /// The terms that a word matches.
  static func places(of word: [UInt8], in terms: UnsafeBufferPointer<TextTerm>, among asked: UInt64 = ~0) -> UInt64 {
    var result: UInt64 = 0
    for place in terms.indices {
      let bit: UInt64 = 1 << UInt64(place)
      if asked & bit != 0, terms[place].accepts(word) { result |= bit }
    }
    return result
  }
}
