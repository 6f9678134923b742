import QueryModel
import StoreValues

/// A property that has a text: a `String`, an optional one, a mixed value.
public protocol TextProperty {}

extension String: TextProperty {}
extension Optional: TextProperty where Wrapped == String {}
extension AnyValue: TextProperty {}

extension Field where Root: TextProperty {
  /// The same text without the differences that do not count: `$0.name.folding(.caseInsensitive) == "ann"`. Every comparison
  /// takes it, order and `in` too. Never depends on a locale.
  @inlinable public func folding(_ options: Folding) -> Self { Self(body.folded(options)) }

  /// Whether the text is in it. Case and diacritics count, but for those of the options; null has none.
  @inlinable public func contains(_ text: String, options: Folding? = nil) -> Condition { says(.contains, text, options) }
  /// Whether it begins with the text, as `contains`.
  @inlinable public func starts(with text: String, options: Folding? = nil) -> Condition { says(.beginsWith, text, options) }
  /// Whether it ends with the text, as `contains`.
  @inlinable public func ends(with text: String, options: Folding? = nil) -> Condition { says(.endsWith, text, options) }
  /// Whether it is the text. `==` where everything counts.
  @inlinable public func equals(_ text: String, options: Folding) -> Condition { says(.equal, text, options) }
  /// Whether it is another text; so it is with null.
  @inlinable public func notEquals(_ text: String, options: Folding) -> Condition { says(.notEqual, text, options) }
  /// Whether the whole text is as the pattern: `*` is any run of characters, `?` any one code point.
  @inlinable public func like(_ pattern: String, options: Folding? = nil) -> Condition { says(.like, pattern, options) }
  /// Whether the whole text matches the regular expression, in time linear in the text. One that is none makes the query fail with what is
  /// wrong in `error`.
  @inlinable public func matches(_ pattern: String, options: Folding? = nil) -> Condition { says(.matches, pattern, options) }
  /// Whether the words are in it, as a `TextQuery` writes them: `$0.body.matches(text: "live dat* -server")`. A text that
  /// cannot be looked for makes the query fail with what is wrong in `error`.
  @inlinable public func matches(text words: String) -> Condition { compare(.text, .string(words)) }

  /// Whether another property's text is in it; as with a written one.
  @inlinable public func contains(_ other: Field<some TextProperty>, options: Folding? = nil) -> Condition {
    says(.contains, other, options)
  }
  /// Whether it begins with another property's text.
  @inlinable public func starts(with other: Field<some TextProperty>, options: Folding? = nil) -> Condition {
    says(.beginsWith, other, options)
  }
  /// Whether it ends with another property's text.
  @inlinable public func ends(with other: Field<some TextProperty>, options: Folding? = nil) -> Condition {
    says(.endsWith, other, options)
  }
  /// Whether it is another property's text, but for what the options let pass.
  @inlinable public func equals(_ other: Field<some TextProperty>, options: Folding) -> Condition { says(.equal, other, options) }

  /// Is called `starts(with:)` here, as `Sequence` calls it.
  @available(*, unavailable, renamed: "starts(with:)")
  public func hasPrefix(_ text: String) -> Condition { starts(with: text) }
  /// Is called `ends(with:)` here.
  @available(*, unavailable, renamed: "ends(with:)")
  public func hasSuffix(_ text: String) -> Condition { ends(with: text) }
  /// Nothing that is stored says how many characters a text has.
  @available(*, unavailable, message: "characters are not counted in the store: 'utf8Count' is how many bytes the text has")
  public var count: Field<Int> { utf8Count }

  /// How many bytes the text has in UTF-8; 0 of null.
  @inlinable public var utf8Count: Field<Int> { Field<Int>(body.appending(["@count"])) }

  @inlinable func says(_ comparator: ComparisonOperator, _ text: String, _ options: Folding?) -> Condition {
    guard let options else { return compare(comparator, .string(text)) }
    return folding(options).compare(comparator, .string(text))
  }

  @inlinable func says<T: TextProperty>(_ comparator: ComparisonOperator, _ other: Field<T>, _ options: Folding?) -> Condition {
    guard let options else { return compare(comparator, other) }
    return folding(options).compare(comparator, other)
  }
}

extension Field where Root: RawRepresentable, Root.RawValue: Scalar {
  /// What an enum is stored as: `$0.status.rawValue.starts(with: "act")`.
  @inlinable public var rawValue: Field<Root.RawValue> { Field<Root.RawValue>(body) }
}
