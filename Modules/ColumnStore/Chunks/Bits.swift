/// Bitmaps as arrays of 64-bit words: bit i is bit i % 64 of word i / 64.
enum Bits {
  @inline(__always) static func wordCount(_ bits: Int) -> Int { (bits &+ 63) &>> 6 }
  @inline(__always) static func byteCount(_ bits: Int) -> Int { wordCount(bits) &* 8 }

  @inline(__always) static func test(_ words: UnsafePointer<UInt64>, _ i: Int) -> Bool {
    words[i &>> 6] &>> UInt64(i & 63) & 1 == 1
  }
  @inline(__always) static func test(_ words: UnsafeMutablePointer<UInt64>, _ i: Int) -> Bool {
    words[i &>> 6] &>> UInt64(i & 63) & 1 == 1
  }
  @inline(__always) static func set(_ words: UnsafeMutablePointer<UInt64>, _ i: Int) {
    words[i &>> 6] |= 1 &<< UInt64(i & 63)
  }
  @inline(__always) static func clear(_ words: UnsafeMutablePointer<UInt64>, _ i: Int) {
    words[i &>> 6] &= ~(1 &<< UInt64(i & 63))
  }

  /// How many of the first `count` bits are set.
  static func population(_ words: UnsafePointer<UInt64>, _ count: Int) -> Int {
    var sum = 0
    for i in 0..<count &>> 6 { sum &+= words[i].nonzeroBitCount }
    if count & 63 != 0 { sum &+= (words[count &>> 6] & ((1 &<< UInt64(count & 63)) &- 1)).nonzeroBitCount }
    return sum
  }

  /// Set bits for the rows of the largest chunk, shared by all readers.
  static var allSet: UnsafePointer<UInt64> { UnsafePointer(sharedOnes.words) }

  /// `@unchecked`: only the initialiser writes the memory; later it is only read, and never freed (it is static).
  private final class Ones: @unchecked Sendable {
    let words: UnsafeMutablePointer<UInt64>
    init(count: Int) {
      words = .allocate(capacity: count)
      words.initialize(repeating: .max, count: count)
    }
  }
  private static let sharedOnes = Ones(count: 4_096 / 64 + 1)
}

/// Reads of little-endian numbers at any address.
extension UnsafeRawPointer {
  @inline(__always) func number<T: FixedWidthInteger>(_ offset: Int, as type: T.Type = T.self) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always) func store<T: FixedWidthInteger>(_ number: T, at offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: T.self)
  }
}

/// Unsigned numbers of 0, 1, 2, 4 or 8 bytes: the frame-of-reference encoding of a run of numbers.
enum PackedNumbers {
  @inline(__always) static func width(_ range: UInt64) -> Int {
    range == 0 ? 0 : range < 1 << 8 ? 1 : range < 1 << 16 ? 2 : range < 1 << 32 ? 4 : 8
  }

  @inline(__always) static func isWidth(_ width: Int) -> Bool {
    width == 0 || width == 1 || width == 2 || width == 4 || width == 8
  }

  @inline(__always) static func load(_ start: UnsafeRawPointer, _ width: Int, _ i: Int) -> UInt64 {
    switch width {
    case 0: 0
    case 1: UInt64(start.load(fromByteOffset: i, as: UInt8.self))
    case 2: UInt64(start.number(i &* 2, as: UInt16.self))
    case 4: UInt64(start.number(i &* 4, as: UInt32.self))
    default: start.number(i &* 8, as: UInt64.self)
    }
  }

  @inline(__always) static func store(_ number: UInt64, _ start: UnsafeMutableRawPointer, _ width: Int, _ i: Int) {
    switch width {
    case 0: break
    case 1: start.storeBytes(of: UInt8(truncatingIfNeeded: number), toByteOffset: i, as: UInt8.self)
    case 2: start.store(UInt16(truncatingIfNeeded: number), at: i &* 2)
    case 4: start.store(UInt32(truncatingIfNeeded: number), at: i &* 4)
    default: start.store(number, at: i &* 8)
    }
  }
}
