extension TextQuery {
  /// Whether every word is in the text that must be, and none that is excluded. Linear in the text, times the words looked
  /// for; stops where nothing can change any more.
  public func matches(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { matches(UnsafeRawBufferPointer($0)) }
  }

  /// The same of a text in UTF-8.
  package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var found: UInt64 = 0
    TextWords.forEach(in: text) { word, _, _ in
      found |= places(of: word, among: ~found)
      return !excluded.isEmpty || found & required != required
    }
    return holds(found)
  }

  /// Whether a text passes that has those of the terms.
  func holds(_ found: UInt64) -> Bool {
    found & required == required && !excluded.contains { found & $0 == $0 }
  }

  /// Which of the terms a word is.
  func places(of word: [UInt8], among asked: UInt64 = ~0) -> UInt64 {
    var result: UInt64 = 0
    for place in terms.indices {
      let bit: UInt64 = 1 << UInt64(place)
      if asked & bit != 0, terms[place].accepts(word) { result |= bit }
    }
    return result
  }
}
