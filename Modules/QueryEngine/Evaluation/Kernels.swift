import CVivariumSystem
import StorageInterface
import StoreValues

/// The loops over encoded columns. Each switches once on the layout, compares in the encoded width and writes one byte per row,
/// 0 or 1; `pack` turns them into a mask. Plain loops without calls or branches, which the compiler vectorises; it does not do
/// so with the SIMD types and `replacing`.
enum Kernels {
  typealias Flags = UnsafeMutablePointer<UInt8>

  /// Packs one byte per row into a mask. Reads and clears up to 63 flags past the last row.
  static func pack(_ flags: Flags, _ rows: Int, into mask: Mask) {
    let words = Masks.words(for: rows)
    (flags + rows).update(repeating: 0, count: words &* 64 &- rows)
    for word in 0..<words { mask[word] = cs_mask_of_flags(flags + word &* 64) }
  }

  /// The rows of a word column with words from `low` to `high`.
  static func words(_ vector: ColumnVector, _ rows: Int, _ low: Int64, _ high: Int64, _ flags: Flags, into mask: Mask) {
    // If the column's bounds decide, no row is read. Integers have no NaN, so the bounds hold for every row.
    if low > vector.max || high < vector.min { return Masks.clear(mask, Masks.words(for: rows)) }
    if low <= vector.min && vector.max <= high { return Masks.fill(mask, rows: rows) }
    switch vector.layout {
    case .int8:
      Masks.fill(mask, rows: rows)
      narrowBytes(mask, vector, rows, low, high)
    case .int16: narrow(UInt16.self, vector, rows, low, high, flags, into: mask)
    case .int32: narrow(UInt32.self, vector, rows, low, high, flags, into: mask)
    case .int64:
      let start = UInt64(bitPattern: low &- vector.base)
      span(UInt64.self, vector.values, rows, start, UInt64(bitPattern: high &- low), flags)
      pack(flags, rows, into: mask)
    case .bits:
      Masks.fill(mask, rows: rows)
      narrowBits(mask, vector, rows, zero: low <= 0 && 0 <= high, one: low <= 1 && 1 <= high)
    default:
      if low <= vector.base && vector.base <= high { Masks.fill(mask, rows: rows) } else { Masks.clear(mask, Masks.words(for: rows)) }
    }
  }

  /// Converts the bounds to the encoded width, so that the loop compares narrow numbers.
  @inline(__always)
  private static func narrow<T: FixedWidthInteger & UnsignedInteger>(
    _: T.Type, _ vector: ColumnVector, _ rows: Int, _ low: Int64, _ high: Int64, _ flags: Flags, into mask: Mask
  ) {
    let base = vector.base
    let (sum, overflow) = base.addingReportingOverflow(Int64(T.max))
    let top = overflow ? Int64.max : sum
    let (from, to) = (max(low, base), min(high, top))
    if from > to { return Masks.clear(mask, Masks.words(for: rows)) }
    let start = T(truncatingIfNeeded: from &- base)
    span(T.self, vector.values, rows, start, T(truncatingIfNeeded: to &- from), flags)
    pack(flags, rows, into: mask)
  }

  /// Clears the rows whose words are not from `low` to `high`, if that needs no flags; returns false if it does. Only for a
  /// column without nulls.
  static func narrow(_ mask: Mask, _ vector: ColumnVector, _ rows: Int, _ low: Int64, _ high: Int64) -> Bool {
    if low > vector.max || high < vector.min {
      Masks.clear(mask, Masks.words(for: rows))
      return true
    }
    if low <= vector.min && vector.max <= high { return true }
    switch vector.layout {
    case .int8: narrowBytes(mask, vector, rows, low, high)
    case .bits: narrowBits(mask, vector, rows, zero: low <= 0 && 0 <= high, one: low <= 1 && 1 <= high)
    default: return false
    }
    return true
  }

  /// The same for one-byte numbers, without flags.
  private static func narrowBytes(_ mask: Mask, _ vector: ColumnVector, _ rows: Int, _ low: Int64, _ high: Int64) {
    let base = vector.base
    let (sum, overflow) = base.addingReportingOverflow(255)
    let (from, to) = (max(low, base), min(high, overflow ? .max : sum))
    if from > to { return Masks.clear(mask, Masks.words(for: rows)) }
    cs_narrow_between8(
      mask, vector.values, rows, UInt8(truncatingIfNeeded: from &- base), UInt8(truncatingIfNeeded: to &- from))
  }

  @inline(__always)
  private static func span<T: FixedWidthInteger & UnsignedInteger>(
    _: T.Type, _ values: UnsafeRawPointer, _ rows: Int, _ start: T, _ width: T, _ flags: Flags
  ) {
    for row in 0..<rows {
      let value = values.loadUnaligned(fromByteOffset: row &* MemoryLayout<T>.size, as: T.self)
      flags[row] = value &- start <= width ? 1 : 0
    }
  }

  /// The same for a column of one bit per row; zeroes, ones, both or neither pass.
  private static func narrowBits(_ mask: Mask, _ vector: ColumnVector, _ rows: Int, zero: Bool, one: Bool) {
    if zero == one {
      if !zero { Masks.clear(mask, Masks.words(for: rows)) }
      return
    }
    let flip: UInt64 = zero ? ~0 : 0
    for word in 0..<rows &>> 6 {
      mask[word] &= UInt64(littleEndian: vector.values.loadUnaligned(fromByteOffset: word &* 8, as: UInt64.self)) ^ flip
    }
    if rows & 63 == 0 { return }
    // The last bytes one by one: the memory ends with the last row.
    var last: UInt64 = 0
    for byte in (rows &>> 6) &* 8..<(rows &+ 7) &>> 3 {
      last |= UInt64(vector.values.load(fromByteOffset: byte, as: UInt8.self)) &<< UInt64((byte & 7) &* 8)
    }
    // Bits past the last row are clear, and stay so.
    mask[rows &>> 6] &= last ^ flip
  }

  /// The rows with doubles from `low` to `high`; NaN fails both comparisons.
  static func doubles(_ vector: ColumnVector, _ rows: Int, _ low: Double, _ high: Double, _ flags: Flags, into mask: Mask) {
    guard vector.layout == .float64 else {
      let value = Double(bitPattern: UInt64(bitPattern: vector.base))
      if low <= value && value <= high { Masks.fill(mask, rows: rows) } else { Masks.clear(mask, Masks.words(for: rows)) }
      return
    }
    if ZoneHint.ordinal(of: low) > vector.max || ZoneHint.ordinal(of: high) < vector.min {
      return Masks.clear(mask, Masks.words(for: rows))
    }
    let values = vector.values
    for row in 0..<rows {
      let value = values.loadUnaligned(fromByteOffset: row &* 8, as: Double.self)
      // Clamping leaves a value unchanged exactly if it is inside the interval: one comparison, no branch.
      let raised = value < low ? low : value
      flags[row] = (raised > high ? high : raised) == value ? 1 : 0
    }
    pack(flags, rows, into: mask)
  }

  static func floats(_ vector: ColumnVector, _ rows: Int, _ low: Float, _ high: Float, _ flags: Flags, into mask: Mask) {
    guard vector.layout == .float32 else {
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: vector.base))
      if low <= value && value <= high { Masks.fill(mask, rows: rows) } else { Masks.clear(mask, Masks.words(for: rows)) }
      return
    }
    let values = vector.values
    for row in 0..<rows {
      let value = values.loadUnaligned(fromByteOffset: row &* 4, as: Float.self)
      let raised = value < low ? low : value  // as above
      flags[row] = (raised > high ? high : raised) == value ? 1 : 0
    }
    pack(flags, rows, into: mask)
  }

  /// Decodes a word column to Int64. Only for kernels that cannot work on encoded words.
  static func decode(_ vector: ColumnVector, _ rows: Int, into words: UnsafeMutablePointer<Int64>) {
    let (values, base) = (vector.values, vector.base)
    switch vector.layout {
    case .int8: for row in 0..<rows { words[row] = base &+ Int64(values.load(fromByteOffset: row, as: UInt8.self)) }
    case .int16:
      for row in 0..<rows { words[row] = base &+ Int64(values.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self)) }
    case .int32:
      for row in 0..<rows { words[row] = base &+ Int64(values.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self)) }
    case .int64:
      for row in 0..<rows { words[row] = base &+ values.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self) }
    case .float64: for row in 0..<rows { words[row] = values.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self) }
    default: for row in 0..<rows { words[row] = vector.word(at: row) }
    }
  }
}
