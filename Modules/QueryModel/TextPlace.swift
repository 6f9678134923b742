/// The position in a query's text where a part was written, for error messages. It is not part of the query's meaning: all
/// places are equal, and none is encoded with a query.
package struct TextPlace: Sendable, Hashable {
  /// In UTF-8 bytes from the beginning; nil for a part that was not written as text.
  package let byte: Int?

  package init(_ byte: Int? = nil) { self.byte = byte }

  package static func == (a: Self, b: Self) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}
