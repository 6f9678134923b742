/// A key of a map, the same as another when their bytes are: of "é" as one scalar and as two, Swift's own strings would make
/// one key, and stores keep two.
struct MapKey: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }
}
