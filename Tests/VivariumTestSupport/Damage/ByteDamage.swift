/// What goes wrong with bytes on a disk, and what somebody would write there who wants to do harm.
extension SeededGenerator {
  /// Numbers at the ends of what their widths hold, and some that only look small.
  private static let extremes: [UInt64] = [
    0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 32,
    1 << 47, 1 << 61, 1 << 62, .max >> 1, 1 << 63, .max - 1, .max,
  ]

  /// Changes bytes in one random way: a bit, a byte, a number at an extreme, a cut, zeroes, a piece moved or put in twice.
  public mutating func damage(_ bytes: inout [UInt8]) {
    guard !bytes.isEmpty else {
      bytes = (0..<below(20)).map { _ in UInt8(truncatingIfNeeded: next()) }
      return
    }
    switch below(10) {
    case 0: bytes[below(bytes.count)] ^= 1 << UInt8(below(8))
    case 1, 2: bytes[below(bytes.count)] = UInt8(truncatingIfNeeded: next())
    case 3, 4, 5: splice(&bytes)
    case 6: bytes.removeLast(1 + below(bytes.count))
    case 7:
      let start = below(bytes.count)
      for i in start..<Swift.min(bytes.count, start + 1 + below(32)) { bytes[i] = oneIn(2) ? 0 : 255 }
    case 8:
      let start = below(bytes.count)
      let piece = bytes[start..<Swift.min(bytes.count, start + 1 + below(16))]
      bytes.insert(contentsOf: piece, at: below(bytes.count + 1))
    default:
      let (a, b) = (below(bytes.count), below(bytes.count))
      let count = Swift.min(1 + below(8), bytes.count - Swift.max(a, b))
      for i in 0..<count { bytes.swapAt(a + i, b + i) }
    }
  }

  /// Writes an extreme number over some bytes, mostly near the beginning, where headers are.
  private mutating func splice(_ bytes: inout [UInt8]) {
    let width = [1, 2, 4, 8][below(4)]
    let place = oneIn(2) ? below(Swift.min(bytes.count, 32)) : below(bytes.count)
    let number = oneIn(4) ? next() : SeededGenerator.extremes[below(SeededGenerator.extremes.count)]
    let isBig = oneIn(4)
    for i in 0..<Swift.min(width, bytes.count - place) {
      bytes[place + i] = UInt8(truncatingIfNeeded: number >> UInt64((isBig ? width - 1 - i : i) * 8))
    }
  }
}
