/// An excerpt of a text around the words found, for display.
public struct TextSnippet: Sendable, Hashable {
  /// Verbatim from the text, without ellipses.
  public var text: String
  /// The ranges of the matching words in `text`: in order, without overlaps.
  public var hits: [Range<String.Index>]
  /// Whether text before the excerpt was omitted.
  public var isCutAtStart: Bool
  /// Whether text after the excerpt was omitted.
  public var isCutAtEnd: Bool
}

extension TextSnippet: CustomStringConvertible {
  /// The excerpt with `…` where text was omitted.
  public var description: String { (isCutAtStart ? "…" : "") + text + (isCutAtEnd ? "…" : "") }
}

extension TextQuery {
  /// The ranges of the required words in a text: in order, overlapping ones merged. Empty if there is none, whether or not the
  /// text matches. Linear in the text.
  public func hits(in text: String) -> [Range<String.Index>] {
    var text = text
    text.makeContiguousUTF8()
    let utf8 = text.utf8
    return places(in: text).map { place in
      utf8.index(utf8.startIndex, offsetBy: place.bytes.lowerBound)..<utf8.index(utf8.startIndex, offsetBy: place.bytes.upperBound)
    }
  }

  /// The excerpt of about `length` characters with the most required words; the first of several such. It begins and ends
  /// between words if there is a boundary nearby. Without a hit it is the beginning of the text. Linear in the text.
  public func snippet(of text: String, length: Int = 120) -> TextSnippet {
    var text = text
    text.makeContiguousUTF8()
    var finder = SnippetFinder(text, places(in: text), length: max(1, length))
    return finder.find()
  }

  /// The hits in bytes, with the terms they match; overlapping ones are merged.
  private func places(in text: String) -> [TextHit] {
    var result: [TextHit] = []
    // Whether the last hit is only the first character of a pair: its end is known at the next word, which begins there.
    var isHalf = false
    let required = required
    terms.withUnsafeBufferPointer { terms in
      TextWords.forEach(in: text) { word, kind, source in
        if isHalf, let last = result.last { result[result.count - 1].bytes = last.bytes.lowerBound..<source.lowerBound }
        let places = TextQuery.places(of: word, in: terms, among: required)
        // Matched as a prefix, not as a whole word.
        isHalf = places != 0 && kind == .pair && !terms.contains(.word(word))
        if places == 0 { return true }
        if let last = result.last, source.lowerBound < last.bytes.upperBound {
          result[result.count - 1].bytes = last.bytes.lowerBound..<max(last.bytes.upperBound, source.upperBound)
          result[result.count - 1].terms |= places
        } else {
          result.append(TextHit(bytes: source, terms: places))
        }
        return true
      }
    }
    return result
  }
}

/// The range of a match, and its terms.
struct TextHit {
  var bytes: Range<Int>
  var terms: UInt64
}

/// Chooses the excerpt of a text. Positions are counted in characters here.
struct SnippetFinder {
  private let text: String
  private let hits: [TextHit]
  private let length: Int
  /// The hits in characters, in order.
  private var places: [Range<Int>] = []

  /// The most characters sacrificed to begin or end between words.
  private static let roundingMax = 20

  init(_ text: String, _ hits: [TextHit], length: Int) {
    self.text = text
    self.hits = hits
    self.length = length
  }

  mutating func find() -> TextSnippet {
    count()
    let best = bestRun()
    let (first, end) = best.isEmpty ? (0, 0) : (places[best.lowerBound].lowerBound, places[best.upperBound - 1].upperBound)
    // The remaining length goes to both sides.
    let rest = max(0, length - (end - first))
    let from = max(0, first - rest / 2)
    let start = text.index(text.startIndex, offsetBy: from)
    let stop = text.index(start, offsetBy: max(length, end - from), limitedBy: text.endIndex) ?? text.endIndex
    let (low, high) =
      best.isEmpty
      ? (text.startIndex, stop)
      : (index(hits[best.lowerBound].bytes.lowerBound), index(hits[best.upperBound - 1].bytes.upperBound))
    return piece(roundedStart(start, before: low)..<roundedEnd(stop, behind: best.isEmpty ? start : high))
  }

  /// Converts the hits to characters, in one walk.
  private mutating func count() {
    var (at, characters) = (text.startIndex, 0)
    for hit in hits {
      let low = index(hit.bytes.lowerBound)
      characters += text.distance(from: at, to: low)
      let high = index(hit.bytes.upperBound)
      let end = characters + max(1, text.distance(from: low, to: high))
      places.append(characters..<end)
      at = low
    }
  }

  /// The run of hits that fits into the length and has the most terms; the first of several such.
  private func bestRun() -> Range<Int> {
    var best = 0..<min(1, hits.count)
    var (most, low) = (0, 0)
    var counts = [Int](repeating: 0, count: 64)
    var distinct = 0
    func change(_ terms: UInt64, by step: Int) {
      var terms = terms
      while terms != 0 {
        let at = terms.trailingZeroBitCount
        if counts[at] == 0 { distinct += 1 }
        counts[at] += step
        if counts[at] == 0 { distinct -= 1 }
        terms &= terms - 1
      }
    }
    for high in hits.indices {
      change(hits[high].terms, by: 1)
      while low < high, places[high].upperBound - places[low].lowerBound > length {
        change(hits[low].terms, by: -1)
        low += 1
      }
      if distinct > most || (distinct == most && low == best.lowerBound) {
        most = distinct
        best = low..<high + 1
      }
    }
    return best
  }

  private func index(_ byte: Int) -> String.Index { text.utf8.index(text.utf8.startIndex, offsetBy: byte) }

  /// After the first white space, if there is any before the hit.
  private func roundedStart(_ start: String.Index, before hit: String.Index) -> String.Index {
    guard start > text.startIndex, start < hit else { return start }
    let near = text[start..<hit].prefix(SnippetFinder.roundingMax)
    guard let space = near.firstIndex(where: \.isWhitespace) else { return start }
    return text.index(after: space)
  }

  /// Before the last white space, if there is any after the hit.
  private func roundedEnd(_ end: String.Index, behind hit: String.Index) -> String.Index {
    guard end < text.endIndex, hit < end, !text[end].isWhitespace else { return end }
    return text[hit..<end].suffix(SnippetFinder.roundingMax).lastIndex(where: \.isWhitespace) ?? end
  }

  private func piece(_ range: Range<String.Index>) -> TextSnippet {
    let piece = String(text[range])
    let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
    func place(_ byte: Int) -> String.Index { piece.utf8.index(piece.utf8.startIndex, offsetBy: byte - start) }
    let end = start + piece.utf8.count
    let inside = hits.filter { $0.bytes.lowerBound >= start && $0.bytes.upperBound <= end }
    return TextSnippet(
      text: piece, hits: inside.map { place($0.bytes.lowerBound)..<place($0.bytes.upperBound) },
      isCutAtStart: range.lowerBound > text.startIndex, isCutAtEnd: range.upperBound < text.endIndex)
  }
}
