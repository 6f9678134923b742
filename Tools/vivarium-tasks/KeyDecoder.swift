/// A key as it was pressed.
enum Key: Sendable, Equatable {
  case character(Character)
  case up
  case down
  case enter
  case escape
  case backspace
  /// Control and C, or control and D.
  case leave
}

/// Makes keys of the bytes that a terminal sends. Characters may come in pieces; a key's escape sequence comes whole. What is
/// no UTF-8, as from a terminal with another encoding, is ignored.
struct KeyDecoder {
  private var rest: [UInt8] = []

  mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
    rest += bytes
    var keys: [Key] = []
    while let first = rest.first {
      if first == 27, rest.count >= 3, rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O") {
        // Parameters, then the letter that says which.
        guard let end = rest.indices.dropFirst(2).first(where: { rest[$0] >= 0x40 }) else { return keys }
        if rest[end] == UInt8(ascii: "A") { keys.append(.up) }
        if rest[end] == UInt8(ascii: "B") { keys.append(.down) }
        rest.removeFirst(end + 1)
      } else if let key = KeyDecoder.control(first) {
        keys.append(key)
        rest.removeFirst()
      } else {
        let length = KeyDecoder.length(first)
        let end = rest.prefix(length).dropFirst().firstIndex { $0 & 0xC0 != 0x80 } ?? min(length, rest.count)
        if end == rest.count, end < length { return keys }
        if let text = String(validating: rest[..<end], as: UTF8.self), let scalar = text.unicodeScalars.first, scalar.value >= 32 {
          keys.append(.character(Character(scalar)))
        }
        rest.removeFirst(end)
      }
    }
    return keys
  }

  /// How many bytes a character has that begins with this one.
  private static func length(_ first: UInt8) -> Int { first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4 }

  private static func control(_ byte: UInt8) -> Key? {
    switch byte {
    case 3, 4: .leave
    case 10, 13: .enter
    case 27: .escape
    case 8, 127: .backspace
    default: nil
    }
  }
}
