import QueryModel
import StoreValues

/// A property that can hold a string: a `String`, an optional one, or a mixed value.
public protocol TextProperty {}

extension String: TextProperty {}
extension Optional: TextProperty where Wrapped == String {}
extension AnyValue: TextProperty {}

extension Field where Root: TextProperty {
  /// The string without the differences that the options ignore: `$0.name.folding(.caseInsensitive) == "ann"`. Works with every
  /// comparison, including order and `in`. Never depends on a locale.
  @inlinable public func folding(_ options: Folding) -> Self { Self(body.folded(options)) }

  /// Whether the string contains the text. Respects case and diacritics unless the options ignore them; false for null.
  @inlinable public func contains(_ text: String, options: Folding? = nil) -> Condition { says(.contains, text, options) }
  /// Whether the string begins with the text; options as in `contains`.
  @inlinable public func starts(with text: String, options: Folding? = nil) -> Condition { says(.beginsWith, text, options) }
  /// Whether the string ends with the text; options as in `contains`.
  @inlinable public func ends(with text: String, options: Folding? = nil) -> Condition { says(.endsWith, text, options) }
  /// Whether the string equals the text under the options. Without options use `==`.
  @inlinable public func equals(_ text: String, options: Folding) -> Condition { says(.equal, text, options) }
  /// Whether the string differs from the text under the options; true for null.
  @inlinable public func notEquals(_ text: String, options: Folding) -> Condition { says(.notEqual, text, options) }
  /// Whether the whole string matches the pattern: `*` is any run of characters, `?` any one code point.
  @inlinable public func like(_ pattern: String, options: Folding? = nil) -> Condition { says(.like, pattern, options) }
  /// Whether the whole string matches the regular expression, in time linear in the string. An invalid expression makes the query
  /// fail, with the cause in `error`.
  @inlinable public func matches(_ pattern: String, options: Folding? = nil) -> Condition { says(.matches, pattern, options) }
  /// Whether the string contains the words, in the syntax of `TextQuery`: `$0.body.matches(text: "live dat* -server")`. An invalid
  /// text query makes the query fail, with the cause in `error`.
  @inlinable public func matches(text words: String) -> Condition { compare(.text, .string(words)) }

  /// Whether the string contains another property's string; options as with a constant.
  @inlinable public func contains(_ other: Field<some TextProperty>, options: Folding? = nil) -> Condition {
    says(.contains, other, options)
  }
  /// Whether the string begins with another property's string.
  @inlinable public func starts(with other: Field<some TextProperty>, options: Folding? = nil) -> Condition {
    says(.beginsWith, other, options)
  }
  /// Whether the string ends with another property's string.
  @inlinable public func ends(with other: Field<some TextProperty>, options: Folding? = nil) -> Condition {
    says(.endsWith, other, options)
  }
  /// Whether the string equals another property's under the options.
  @inlinable public func equals(_ other: Field<some TextProperty>, options: Folding) -> Condition { says(.equal, other, options) }

  /// Called `starts(with:)` here, as in `Sequence`.
  @available(*, unavailable, renamed: "starts(with:)")
  public func hasPrefix(_ text: String) -> Condition { starts(with: text) }
  /// Called `ends(with:)` here.
  @available(*, unavailable, renamed: "ends(with:)")
  public func hasSuffix(_ text: String) -> Condition { ends(with: text) }
  /// Unavailable: the store does not hold the number of characters of a string.
  @available(*, unavailable, message: "characters are not counted in the store: 'utf8Count' is how many bytes the text has")
  public var count: Field<Int> { utf8Count }

  /// The number of bytes of the string in UTF-8; 0 for null.
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
  /// The stored value of an enum: `$0.status.rawValue.starts(with: "act")`.
  @inlinable public var rawValue: Field<Root.RawValue> { Field<Root.RawValue>(body) }
}
