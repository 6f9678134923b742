import VivariumTestSupport

/// What may happen to the files of a store while nobody has them open.
enum FileDamage {
  private static let page = 4_096

  /// Damages the file with a suffix in one random way.
  static func damage(_ files: inout [String: [UInt8]], _ suffix: String, _ random: inout SeededGenerator) {
    guard var bytes = files[suffix], !bytes.isEmpty else {
      files[suffix] = (0..<random.below(9_000)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      return
    }
    let isMain = suffix.isEmpty
    if !isMain, random.oneIn(20) {
      files[suffix] = random.oneIn(2) ? nil : []
      return
    }
    switch random.below(12) {
    case 0, 1, 2: for _ in 0...random.below(3) { flip(&bytes, &random) }
    case 3, 4:
      // In the header of a page, or among the places of what it holds.
      let start = random.below((bytes.count + page - 1) / page) * page
      random.damage(&bytes, within: start..<min(bytes.count, start + 64))
    case 5:
      let start = random.below(bytes.count)
      random.damage(&bytes, within: start..<min(bytes.count, start + 32))
    case 6: fill(&bytes, pageOf(bytes, &random), with: random.oneIn(2) ? 0 : 255)
    case 7: swap(&bytes, &random)
    case 8: copyPage(&bytes, &random)
    case 9: bytes.removeLast(1 + random.below(random.oneIn(2) ? min(bytes.count, 5_000) : bytes.count))
    case 10:
      let start = random.below(bytes.count)
      fill(&bytes, start..<min(bytes.count, start + 1 + random.below(600)), with: UInt8(truncatingIfNeeded: random.next()))
    default: bytes += (0..<random.below(9_000)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    files[suffix] = bytes
  }

  private static func pageOf(_ bytes: [UInt8], _ random: inout SeededGenerator) -> Range<Int> {
    let start = random.below((bytes.count + page - 1) / page) * page
    return start..<min(bytes.count, start + page)
  }

  private static func flip(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
  }

  private static func fill(_ bytes: inout [UInt8], _ range: Range<Int>, with byte: UInt8) { for i in range { bytes[i] = byte } }

  private static func swap(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let (a, b) = (pageOf(bytes, &random), pageOf(bytes, &random))
    for i in 0..<min(a.count, b.count) { bytes.swapAt(a.lowerBound + i, b.lowerBound + i) }
  }

  private static func copyPage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let (a, b) = (pageOf(bytes, &random), pageOf(bytes, &random))
    for i in 0..<min(a.count, b.count) { bytes[a.lowerBound + i] = bytes[b.lowerBound + i] }
  }
}

extension SeededGenerator {
  /// Damages a part and leaves everything else where it is.
  mutating func damage(_ bytes: inout [UInt8], within range: Range<Int>) {
    var part = Array(bytes[range])
    damage(&part)
    part += [UInt8](repeating: 0, count: range.count)
    bytes.replaceSubrange(range, with: part.prefix(range.count))
  }
}
