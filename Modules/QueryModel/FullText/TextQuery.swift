/// What is looked for in texts: some words, all of which must be there, none of those that are excluded.
///
/// ```swift
/// let query = try TextQuery("live dat* -server")
/// query.matches("A live database")          // true
/// query.snippet(of: note.body).text         // "… a live database of objects …"
/// ```
///
/// Written as people write in a search field. Words are parted by white space and count without case and diacritics;
/// `dat*` is every word that begins so, `-server` is a word that must not be there. Marks between words mean nothing:
/// `state-of-the-art` is its four words. Chinese, Japanese and Korean are looked for by pairs of signs, a single sign
/// wherever it stands. What the condition `body TEXT 'live dat* -server'` says is this, word for word.
///
/// A value: it can be sent and compared, and asked on any thread. Making one is linear in the text.
public struct TextQuery: Sendable, Hashable {
  /// As it was written.
  public let text: String
  /// Those that must be there first; at most `termsMax`.
  package let terms: [TextTerm]
  /// Which of `terms` must be there.
  let required: UInt64
  /// Which of `terms` must not all be there: one set for each word that is excluded.
  let excluded: [UInt64]

  /// So many words can be looked for.
  public static let termsMax = 64

  /// Throws a `TextQueryError`, with the place, for a text without words, for one with nothing but exclusions (which
  /// `NOT body TEXT '…'` says), for a `*` that does not stand behind a word, and for more than `termsMax` words.
  public init(_ text: String) throws(TextQueryError) {
    var reader = TextQueryReader(text)
    try reader.read()
    self.text = text
    terms = reader.terms
    required = reader.required
    excluded = reader.excluded
  }

  /// The words that must be there, folded, with `*` behind beginnings.
  public var words: [String] {
    requiredTerms.map(\.description)
  }
}

extension TextQuery {
  /// Those that must be there, for indexes.
  package var requiredTerms: [TextTerm] { terms.indices.filter { required & (1 << UInt64($0)) != 0 }.map { terms[$0] } }
  package var hasExclusions: Bool { !excluded.isEmpty }
}

extension TextQuery: CustomStringConvertible {
  public var description: String { text }
}

/// One word that is looked for, as `TextWords` gives it.
package enum TextTerm: Sendable, Hashable {
  case word([UInt8])
  /// Every word that begins so.
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

/// Why a text cannot be looked for.
public struct TextQueryError: Error, Sendable, Hashable {
  /// What happened. Open: later versions add codes, so code that switches needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// What is wrong, for code.
  public var code: Code
  /// One sentence: what is wrong.
  public var message: String
  /// One sentence: what helps.
  public var remedy: String
  /// Where in the text that is looked for, in UTF-8 bytes from its beginning.
  public var position: Int
}

extension TextQueryError.Code {
  /// There is no word in it.
  public static let noWords = Self(rawValue: "noWords")
  /// Every word is excluded.
  public static let onlyExclusions = Self(rawValue: "onlyExclusions")
  /// A `*` that does not stand behind a word.
  public static let strayStar = Self(rawValue: "strayStar")
  /// More than `TextQuery.termsMax` words.
  public static let tooManyWords = Self(rawValue: "tooManyWords")
}

extension TextQueryError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message) At byte \(position). \(remedy)" }
}
