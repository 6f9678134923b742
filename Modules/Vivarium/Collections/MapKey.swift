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

extension Dictionary where Key == String {
  /// Of a map's entries, in its order. It may have keys that a dictionary takes for one: of these the last entry counts, whole.
  init(ofMap entries: some Sequence<(String, Value)>) {
    self.init()
    for (key, value) in entries where updateValue(value, forKey: key) != nil {
      // A dictionary may keep the key that it had.
      removeValue(forKey: key)
      self[key] = value
    }
  }
}
