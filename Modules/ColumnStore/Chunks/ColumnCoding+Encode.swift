import StorageInterface
import StoreValues

/// Encodes columns from decoded values.
enum ColumnEncoder {
  /// Encodes the words of a bit, integer, float or double column. `nulls` may have bits beyond `count`.
  static func encode(
    words: UnsafePointer<Int64>, nulls: UnsafePointer<UInt64>, nullCount: Int, count: Int, form: ColumnShape.Form
  ) -> ValueBuffer {
    let bitmap = nullCount > 0 ? Bits.byteCount(count) : 0
    let start = ColumnHeader.size + bitmap
    let (min, max, isConstant) = bounds(words, nulls: nullCount > 0 ? nulls : nil, count, form)
    func make(_ layout: ColumnHeader.Layout, _ size: Int, _ fill: (UnsafeMutableRawPointer) -> Void) -> ValueBuffer {
      ValueBuffer(count: start + size) { out in
        // A buffer of at least a header has an address.
        let out = out.baseAddress.unsafelyUnwrapped
        ColumnHeader.write(
          out, layout, flags: nullCount > 0 ? ColumnHeader.hasNulls : 0, count: count, nullCount: nullCount, min: min,
          max: max)
        if bitmap > 0 { copyBitmap(nulls, count, to: out + ColumnHeader.size) }
        fill(out + start)
      }
    }
    if isConstant {
      let word = firstWord(words, nulls: nullCount > 0 ? nulls : nil, count)
      return make(.constantWord, 8) { $0.store(word, at: 0) }
    }
    switch form {
    case .bit:
      return make(.bits, (count + 7) / 8) { out in
        for byte in 0..<(count + 7) / 8 {
          var bits: UInt8 = 0
          for i in 0..<Swift.min(8, count - byte * 8) where words[byte * 8 + i] != 0 { bits |= 1 << UInt8(i) }
          out.store(bits, at: byte)
        }
      }
    case .float:
      return make(.float32, count * 4) { out in
        for i in 0..<count { out.store(UInt32(truncatingIfNeeded: words[i]), at: i &* 4) }
      }
    case .double:
      return make(.float64, count * 8) { $0.copyMemory(from: words, byteCount: count * 8) }
    default:
      switch PackedNumbers.width(UInt64(bitPattern: max &- min)) {
      case 0, 1:
        return make(.int8, count) { out in
          for i in 0..<count { out.store(UInt8(truncatingIfNeeded: words[i] &- min), at: i) }
        }
      case 2:
        return make(.int16, count * 2) { out in
          for i in 0..<count { out.store(UInt16(truncatingIfNeeded: words[i] &- min), at: i &* 2) }
        }
      case 4:
        return make(.int32, count * 4) { out in
          for i in 0..<count { out.store(UInt32(truncatingIfNeeded: words[i] &- min), at: i &* 4) }
        }
      default:
        return make(.int64, count * 8) { out in
          for i in 0..<count { out.store(words[i] &- min, at: i &* 8) }
        }
      }
    }
  }

  /// Encodes byte strings. Rows marked in `external` are written empty.
  static func encode(
    slices: UnsafePointer<UnsafeRawBufferPointer>, nulls: UnsafePointer<UInt64>, nullCount: Int,
    external: UnsafePointer<UInt64>, externalCount: Int, count: Int
  ) -> ValueBuffer {
    let bitmap = Bits.byteCount(count)
    let hasNulls = nullCount > 0
    let hasExternal = externalCount > 0
    let start = ColumnHeader.size + (hasNulls ? bitmap : 0) + (hasExternal ? bitmap : 0)
    var total = 0
    for i in 0..<count {
      if (hasNulls && Bits.test(nulls, i)) || (hasExternal && Bits.test(external, i)) { continue }
      total += slices[i].count
    }
    let width = total <= Int(UInt16.max) ? 2 : 4
    return ValueBuffer(count: start + (count + 1) * width + total) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // a buffer of at least a header has an address
      ColumnHeader.write(
        out, width == 2 ? .bytes16 : .bytes32,
        flags: (hasNulls ? ColumnHeader.hasNulls : 0) | (hasExternal ? ColumnHeader.hasExternal : 0), count: count,
        nullCount: nullCount, min: .min, max: .max)
      var at = ColumnHeader.size
      if hasNulls {
        copyBitmap(nulls, count, to: out + at)
        at += bitmap
      }
      if hasExternal { copyBitmap(external, count, to: out + at) }
      let offsets = out + start
      let data = offsets + (count + 1) * width
      var used = 0
      for i in 0..<count {
        if width == 2 { offsets.store(UInt16(truncatingIfNeeded: used), at: i &* 2) } else {
          offsets.store(UInt32(truncatingIfNeeded: used), at: i &* 4)
        }
        if (hasNulls && Bits.test(nulls, i)) || (hasExternal && Bits.test(external, i)) { continue }
        let slice = slices[i]
        if let from = slice.baseAddress {
          (data + used).copyMemory(from: from, byteCount: slice.count)
          used += slice.count
        }
      }
      if width == 2 { offsets.store(UInt16(truncatingIfNeeded: used), at: count * 2) } else {
        offsets.store(UInt32(truncatingIfNeeded: used), at: count * 4)
      }
    }
  }

  /// Encodes 16 bytes per row.
  static func encode(
    fixed16 rows: UnsafeRawPointer, nulls: UnsafePointer<UInt64>, nullCount: Int, count: Int
  ) -> ValueBuffer {
    let bitmap = nullCount > 0 ? Bits.byteCount(count) : 0
    let start = ColumnHeader.size + bitmap
    return ValueBuffer(count: start + count * 16) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // a buffer of at least a header has an address
      ColumnHeader.write(
        out, .fixed16, flags: nullCount > 0 ? ColumnHeader.hasNulls : 0, count: count, nullCount: nullCount, min: .min,
        max: .max)
      if bitmap > 0 { copyBitmap(nulls, count, to: out + ColumnHeader.size) }
      (out + start).copyMemory(from: rows, byteCount: count * 16)
    }
  }

  /// Copies the bits of `count` rows and clears the rest of the last word, so that equal columns have equal bytes.
  private static func copyBitmap(_ words: UnsafePointer<UInt64>, _ count: Int, to out: UnsafeMutableRawPointer) {
    for i in 0..<Bits.wordCount(count) {
      var word = words[i]
      if i == count >> 6 { word &= (1 << UInt64(count & 63)) - 1 }
      out.store(word, at: i * 8)
    }
  }

  private static func firstWord(_ words: UnsafePointer<Int64>, nulls: UnsafePointer<UInt64>?, _ count: Int) -> Int64 {
    for i in 0..<count where nulls.map({ !Bits.test($0, i) }) ?? true { return words[i] }
    return 0
  }

  /// The lowest and highest ordinal of the rows that are neither null nor NaN, and whether all non-null rows have the same
  /// bits.
  private static func bounds(
    _ words: UnsafePointer<Int64>, nulls: UnsafePointer<UInt64>?, _ count: Int, _ form: ColumnShape.Form
  ) -> (min: Int64, max: Int64, isConstant: Bool) {
    var low = Int64.max
    var high = Int64.min
    var different: Int64 = 0
    if form == .integer || form == .bit {
      if let nulls {
        let first = firstWord(words, nulls: nulls, count)
        for i in 0..<count where !Bits.test(nulls, i) {
          low = Swift.min(low, words[i])
          high = Swift.max(high, words[i])
          different |= words[i] ^ first
        }
      } else {
        for i in 0..<count {
          low = Swift.min(low, words[i])
          high = Swift.max(high, words[i])
        }
        different = low ^ high
      }
      return (low, high, different == 0)
    }
    if form == .double, nulls == nil, let bounds = boundsOfNumbers(words, count) { return bounds }
    let first = firstWord(words, nulls: nulls, count)
    for i in 0..<count {
      if let nulls, Bits.test(nulls, i) { continue }
      different |= words[i] ^ first
      let number =
        form == .float
        ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: words[i]))) : Double(bitPattern: UInt64(bitPattern: words[i]))
      if number.isNaN { continue }
      let ordinal = ZoneHint.ordinal(of: number)
      low = Swift.min(low, ordinal)
      high = Swift.max(high, ordinal)
    }
    return (low, high, different == 0)
  }

  /// The same for doubles without nulls, without a branch per row; nil if one is NaN.
  private static func boundsOfNumbers(
    _ words: UnsafePointer<Int64>, _ count: Int
  ) -> (min: Int64, max: Int64, isConstant: Bool)? {
    var low = Int64.max
    var high = Int64.min
    for i in 0..<count {
      // As `ZoneHint.ordinal(of:)`, except that −0.0 is −1: each bit pattern has its own ordinal.
      let ordinal = words[i] ^ (words[i] &>> 63 & Int64.max)
      low = Swift.min(low, ordinal)
      high = Swift.max(high, ordinal)
    }
    // NaNs lie beyond the infinities.
    if low < ZoneHint.ordinal(of: -.infinity) || high > ZoneHint.ordinal(of: .infinity) { return nil }
    return (low == -1 ? 0 : low, high == -1 ? 0 : high, low == high)
  }
}
