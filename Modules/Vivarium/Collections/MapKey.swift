/// A key of a map, equal to another if their bytes are. Swift's strings treat "é" as one scalar and as two scalars as equal, while
/// stores keep two keys.
struct MapKey: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(UInt8(0xFF))
  }
}
