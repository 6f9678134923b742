/// The name of a class or property, or the key of a map. Two names are equal if their UTF-8 bytes are. `String` also equates "é" as one
/// scalar and as two; names do not, so all replicas agree whatever their Unicode tables say.
public struct Name: Hashable, Sendable {
  /// The name as given, never normalised.
  public let text: String

  /// Creates a name from a text, unchanged.
  public init(_ text: String) { self.text = text }

  public static func == (a: Name, b: Name) -> Bool {
    let (x, y) = (a.text.utf8, b.text.utf8)
    guard x.count == y.count else { return false }
    // Comparing through the iterators, byte by byte, would cost more than everything else done with a name.
    let isEqual = x.withContiguousStorageIfAvailable { x in
      y.withContiguousStorageIfAvailable { y in
        for at in x.indices where x[at] != y[at] { return false }
        return true
      }
    }
    return (isEqual ?? nil) ?? x.elementsEqual(y)
  }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension Name: Comparable {
  /// By bytes.
  public static func < (a: Name, b: Name) -> Bool {
    let (x, y) = (a.text.utf8, b.text.utf8)
    let isBefore = x.withContiguousStorageIfAvailable { x in
      y.withContiguousStorageIfAvailable { y in
        for at in 0..<min(x.count, y.count) where x[at] != y[at] { return x[at] < y[at] }
        return x.count < y.count
      }
    }
    return (isBefore ?? nil) ?? x.lexicographicallyPrecedes(y)
  }
}

extension Name: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral text: String) { self.text = text }
  public var description: String { text }
}
