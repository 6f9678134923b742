/// A full-text query: words that must all occur, and excluded words that must not.
///
/// ```swift
/// let query = try TextQuery("live dat* -server")
/// query.matches("A live database")          // true
/// query.snippet(of: note.body).text         // "… a live database of objects …"
/// ```
///
/// Written as in a search field. Words are separated by white space and compared without case and diacritics; `dat*` is every
/// word with that prefix, `-server` an excluded word. Punctuation between words means nothing: `state-of-the-art` is its four
/// words. Chinese, Japanese and Korean are searched by pairs of characters, a single character wherever it occurs. The
/// condition `body TEXT 'live dat* -server'` has exactly this meaning.
///
/// A value: it can be sent, compared, and used on any thread. Creating one is linear in the text.
public struct TextQuery: Sendable, Hashable {
  /// The text as written.
  public let text: String
  /// Required terms first; at most `termsMax`.
  package let terms: [TextTerm]
  /// The required ones of `terms`, as bits.
  let required: UInt64
  /// Sets of `terms` that must not all occur, as bits: one set per excluded word.
  let excluded: [UInt64]

  /// The most words of a query.
  public static let termsMax = 64

  /// Throws a `TextQueryError`, with the position, for a text without words, for one with only exclusions (write `NOT body TEXT
  /// '…'` instead), for a `*` that does not follow a word, and for more than `termsMax` words.
  public init(_ text: String) throws(TextQueryError) {
    var reader = TextQueryReader(text)
    try reader.read()
    self.text = text
    terms = reader.terms
    required = reader.required
    excluded = reader.excluded
  }

  /// The required words, folded, with `*` after prefixes.
  public var words: [String] {
    requiredTerms.map(\.description)
  }
}

extension TextQuery {
  /// The required terms, for indexes.
  package var requiredTerms: [TextTerm] { terms.indices.filter { required & (1 << UInt64($0)) != 0 }.map { terms[$0] } }
  package var hasExclusions: Bool { !excluded.isEmpty }
}

extension TextQuery: CustomStringConvertible {
  public var description: String { text }
}

/// One word of a query, as split by `TextWords`.
package enum TextTerm: Sendable, Hashable {
  case word([UInt8])
  /// Every word with this prefix.
  case prefix([UInt8])

  package var bytes: [UInt8] {
    switch self {
    case .word(let bytes), .prefix(let bytes): bytes
    }
  }

  package var isPrefix: Bool { if case .prefix = self { true } else { false } }

  @inline(__always) func accepts(_ word: [UInt8]) -> Bool {
    switch self {
    case .word(let other): word == other
    case .prefix(let prefix): word.starts(with: prefix)
    }
  }
}

extension TextTerm: CustomStringConvertible {
  package var description: String {
    switch self {
    case .word(let bytes): String(decoding: bytes, as: UTF8.self)
    case .prefix(let bytes): String(decoding: bytes, as: UTF8.self) + "*"
    }
  }
}

/// Why a text is not a valid full-text query.
public struct TextQueryError: Error, Sendable, Hashable {
  /// The kind of error. Open: later versions add codes, so a switch over it needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of error, for programs.
  public var code: Code
  /// One sentence: the error.
  public var message: String
  /// One sentence: how to fix it.
  public var remedy: String
  /// The position in the query's text, in UTF-8 bytes from its beginning.
  public var position: Int
}

extension TextQueryError.Code {
  /// The text has no word.
  public static let noWords = Self(rawValue: "noWords")
  /// Every word is excluded.
  public static let onlyExclusions = Self(rawValue: "onlyExclusions")
  /// A `*` does not follow a word.
  public static let strayStar = Self(rawValue: "strayStar")
  /// More than `TextQuery.termsMax` words.
  public static let tooManyWords = Self(rawValue: "tooManyWords")
}

extension TextQueryError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message) At byte \(position). \(remedy)" }
}
