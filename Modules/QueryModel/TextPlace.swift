/// Where in the text of a query a part of it was written, for who says what is wrong with it. It is no part of what the query
/// means: all places are equal, and none is kept with a query that is encoded.
package struct TextPlace: Sendable, Hashable {
  /// In UTF-8 bytes from the beginning; nil of what was not written in a text.
  package let byte: Int?

  package init(_ byte: Int? = nil) { self.byte = byte }

  package static func == (a: Self, b: Self) -> Bool { true }
  package func hash(into hasher: inout Hasher) {}
}
