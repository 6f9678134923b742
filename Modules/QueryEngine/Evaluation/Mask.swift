import CVivariumSystem

/// A set of the rows of one batch: bit i of the words is row i. Bits past the last row are clear.
typealias Mask = UnsafeMutablePointer<UInt64>

/// Operations on masks of `words` words. All are short loops that vectorise.
enum Masks {
  @inline(__always) static func words(for rows: Int) -> Int { (rows &+ 63) &>> 6 }

  @inline(__always) static func clear(_ mask: Mask, _ words: Int) { mask.update(repeating: 0, count: words) }

  @inline(__always) static func copy(_ source: UnsafePointer<UInt64>, to mask: Mask, _ words: Int) {
    mask.update(from: source, count: words)
  }

  /// Sets the bits of every row.
  static func fill(_ mask: Mask, rows: Int) {
    mask.update(repeating: ~0, count: words(for: rows))
    trim(mask, rows: rows)
  }

  /// Clears the bits past the last row.
  @inline(__always) static func trim(_ mask: Mask, rows: Int) {
    if rows & 63 != 0 { mask[rows &>> 6] &= (1 &<< UInt64(rows & 63)) &- 1 }
  }

  @inline(__always) static func and(_ mask: Mask, _ other: UnsafePointer<UInt64>, _ words: Int) {
    for i in 0..<words { mask[i] &= other[i] }
  }
  @inline(__always) static func or(_ mask: Mask, _ other: UnsafePointer<UInt64>, _ words: Int) {
    for i in 0..<words { mask[i] |= other[i] }
  }
  @inline(__always) static func subtract(_ mask: Mask, _ other: UnsafePointer<UInt64>, _ words: Int) {
    for i in 0..<words { mask[i] &= ~other[i] }
  }

  static func isEmpty(_ mask: UnsafePointer<UInt64>, _ words: Int) -> Bool {
    var any: UInt64 = 0
    for i in 0..<words { any |= mask[i] }
    return any == 0
  }

  static func count(_ mask: UnsafePointer<UInt64>, _ words: Int) -> Int {
    Int(truncatingIfNeeded: cs_count_bits(mask, words))
  }

  /// Calls `body` with each row of the set, ascending.
  @inline(__always)
  static func forEach<E: Error>(_ mask: UnsafePointer<UInt64>, _ words: Int, _ body: (Int) throws(E) -> Void) throws(E) {
    for i in 0..<words {
      var rest = mask[i]
      while rest != 0 {
        try body(i &<< 6 &+ rest.trailingZeroBitCount)
        rest &= rest &- 1
      }
    }
  }
}
