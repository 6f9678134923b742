import Foundation

extension TextQuery {
  /// How well a text matches by itself, in 0..<1: 0 if it does not match; grows with the frequency of each word, with
  /// diminishing returns. Knows nothing of other texts: see `scores(of:)`. Linear in the text.
  public func score(of text: String) -> Double {
    let counts = TextCounts(text, self)
    guard holds(counts.found) else { return 0 }
    var (sum, words) = (0.0, 0.0)
    for place in terms.indices where required & (1 << UInt64(place)) != 0 {
      let count = Double(counts.counts[place])
      sum += count / (count + TextQuery.saturation)
      words += 1
    }
    return sum / words
  }

  /// How well each text matches compared with the others, by BM25 (k = 1.2, b = 0.75): rare words count more than those that
  /// many of these texts have, and a word in a short text more than in a long one. 0 for a text that does not match, and for
  /// nil; positive for one that does. Only scores of the same call are comparable.
  ///
  /// Reads every text once: linear in all of them, with memory for a few numbers per text.
  public func scores(of texts: some Sequence<String?>) -> [Double] {
    let all = texts.map { text in text.map { TextCounts($0, self) } }
    let asked = terms.indices.filter { required & (1 << UInt64($0)) != 0 }
    let there = all.compactMap(\.self)
    let count = Double(there.count)
    let length = max(1, there.reduce(0) { $0 + Double($1.length) } / max(1, count))
    let weights = asked.map { place in
      let having = Double(there.count { $0.counts[place] > 0 })
      return log(1 + (count - having + 0.5) / (having + 0.5))
    }
    return all.map { text in
      guard let text, holds(text.found) else { return 0 }
      let weight = TextQuery.saturation * (0.25 + 0.75 * Double(text.length) / length)
      return zip(asked, weights).reduce(0) { sum, term in
        let count = Double(text.counts[term.0])
        return sum + term.1 * count * (TextQuery.saturation + 1) / (count + weight)
      }
    }
  }

  private static let saturation = 1.2
}

/// The frequency of each term in a text.
private struct TextCounts {
  private(set) var counts: [Int]
  private(set) var found: UInt64 = 0
  /// In words.
  private(set) var length = 0

  init(_ text: String, _ query: TextQuery) {
    var counts = [Int](repeating: 0, count: query.terms.count)
    var (found, length) = (UInt64(0), 0)
    query.terms.withUnsafeBufferPointer { terms in
      TextWords.forEach(in: text) { word, _, _ in
        length += 1
        var places = TextQuery.places(of: word, in: terms)
        found |= places
        while places != 0 {
          counts[places.trailingZeroBitCount] += 1
          places &= places - 1
        }
        return true
      }
    }
    (self.counts, self.found, self.length) = (counts, found, length)
  }
}
