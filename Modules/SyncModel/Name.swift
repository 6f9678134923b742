/// A name of a class or property, or the key of a map. Two are the same when their UTF-8 bytes are: unlike `String`, for
/// which "é" as one scalar and as two are equal, so that all replicas agree whatever their tables of Unicode say.
public struct Name: Hashable, Sendable {
  /// The name as it was given: never normalised.
  public let text: String

  /// The name of a text, as it is.
  public init(_ text: String) { self.text = text }

  public static func == (a: Name, b: Name) -> Bool {
    let (x, y) = (a.text.utf8, b.text.utf8)
    guard x.count == y.count else { return false }
    // Byte by byte the iterators cost more than all else that is done with a name.
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
