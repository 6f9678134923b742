import CVivariumSystem
import StorageInterface
import StoreValues

/// The loops over encoded columns. Each switches once on the layout, compares in the encoded width and leaves one
/// byte a row, 0 or 1; `pack` makes a mask of them. Plain loops without calls or branches, which the compiler
/// turns into vector code; the SIMD types with `replacing` do not become that.
enum Kernels {
  typealias Flags = UnsafeMutablePointer<UInt8>

  /// Makes a mask of one byte a row. Reads and clears up to 63 flags past the last row.
  static func pack(_ flags: Flags, _ rows: Int, into mask: Mask) {
    let words = Masks.words(for: rows)
    (flags + rows).update(repeating: 0, count: words &* 64 &- rows)
    for word in 0..<words { mask[word] = cs_mask_of_flags(flags + word &* 64) }
  }

  /// Words from `low` to `high` of a word column.
  static func words(_ vector: ColumnVector, _ rows: Int, _ low: Int64, _ high: Int64, _ flags: Flags, into mask: Mask) {
    // Where the column's bounds settle it, no row is looked at. Integers know no NaN, so bounds bound every row.
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

  /// The bounds are brought into the encoded width, so that the loop compares narrow numbers.
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

  /// Leaves of the rows in a mask those whose words lie from `low` to `high`, where that takes no flags; false: it does. Of a
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

  /// The narrowest numbers, without flags.
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

  /// A column of one bit a row, of which the zeroes or the ones or both pass.
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
    // The last bytes one by one: the memory ends where the rows do.
    var last: UInt64 = 0
    for byte in (rows &>> 6) &* 8..<(rows &+ 7) &>> 3 {
      last |= UInt64(vector.values.load(fromByteOffset: byte, as: UInt8.self)) &<< UInt64((byte & 7) &* 8)
    }
    // Bits behind the last row are clear, and stay so.
    mask[rows &>> 6] &= last ^ flip
  }

  /// Doubles from `low` to `high`; NaN fails both comparisons.
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
      // Inside the interval is what clamping leaves alone: one comparison, no branch.
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

  /// Decodes a word column to Int64. Only where a kernel cannot work on encoded words.
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
