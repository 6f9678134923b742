/// Entries whose keys have something of a user in them, and whose names begin with the same bytes: the blocks of one index, which have
/// fences, or all side entries.
struct HiddenGroup {
  /// What keys and names of the group begin with.
  let prefix: [UInt8]

  /// The group of a key or a name; nil if the key has only numbers of the store's own, and is the entry's name.
  init?(of key: UnsafeRawBufferPointer) {
    guard let first = key.first, let count = HiddenGroup.prefixCount(first), key.count >= count else { return nil }
    prefix = Array(key[..<count])
  }

  var isOfSides: Bool { prefix.count == 1 }

  /// The least bytes that are above all keys and names of the group.
  var end: [UInt8] {
    var end = prefix
    while let last = end.popLast() {
      if last == .max { continue }
      return end + [last + 1]
    }
    return end
  }

  /// How many bytes of the keys of a space stay as they are; nil if all do.
  static func prefixCount(_ space: UInt8) -> Int? {
    switch EntryKey.Space(rawValue: space) {
    case .indexBlock: 3
    case .backlinkBlock: 5
    case .side: 1
    default: nil
    }
  }
}
