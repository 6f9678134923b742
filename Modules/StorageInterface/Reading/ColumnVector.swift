/// One column of a run of rows, still encoded, because decoding a byte column to Int64 costs more than counting over it. A
/// kernel switches once on `layout` and loops over raw memory; `word(at:)` and `bytes(at:)` are for row-at-a-time code.
///
/// The memory belongs to the engine. It is valid until the closure that the vector was lent to returns or, in a `ColumnWindow`,
/// as long as the window.
public struct ColumnVector: BitwiseCopyable {
  /// The memory layout of the elements.
  public enum Layout: UInt8, Sendable, BitwiseCopyable {
    /// Unsigned words of that width, to be added to `base` (frame of reference). Integers, bools, links, dates.
    case int8, int16, int32, int64
    /// One bit per row: Bool.
    case bits
    /// Raw bit patterns of 4 and 8 bytes: Float; Double.
    case float32, float64
    /// `count + 1` unsigned offsets of that width in `offsets`, relative to `values`: String, Data, ObjectId, mixed values.
    case bytes16, bytes32
    /// 16 bytes per row: UUID, Decimal128.
    case fixed16
    /// Every row has the same value: the word `base`, or for bytes the first `base` bytes at `values`.
    case constantWord, constantBytes
  }

  /// How to read `values` and `offsets`.
  public let layout: Layout
  /// The number of rows.
  public let count: Int
  /// Added to each word; see `Layout`.
  public let base: Int64
  /// The elements; see `Layout`.
  public let values: UnsafeRawPointer
  /// The beginning of each element, for texts and data; nil for others.
  public let offsets: UnsafeRawPointer?
  /// nil: no null in the run. Bit i set: row i is null and its element is unspecified (but readable).
  public let nulls: UnsafePointer<UInt64>?
  /// Bounds of the rows that are neither null nor a Double or Float NaN, as ordinals (see `ZoneHint`). May be wider than the
  /// data, never narrower; `min > max` if there is no such row.
  public let min: Int64
  /// See `min`.
  public let max: Int64

  @inlinable public init(
    layout: Layout, count: Int, base: Int64 = 0, values: UnsafeRawPointer, offsets: UnsafeRawPointer? = nil,
    nulls: UnsafePointer<UInt64>? = nil, min: Int64 = .min, max: Int64 = .max
  ) {
    self.layout = layout
    self.count = count
    self.base = base
    self.values = values
    self.offsets = offsets
    self.nulls = nulls
    self.min = min
    self.max = max
  }
}

extension ColumnVector {
  /// Whether a row is null. O(1).
  @inlinable @inline(__always) public func isNull(at row: Int) -> Bool {
    guard let nulls else { return false }
    return nulls[row &>> 6] &>> UInt64(row & 63) & 1 == 1
  }

  /// The 64-bit word of a row of a word column; unspecified if the row is null. O(1).
  @inlinable @inline(__always) public func word(at row: Int) -> Int64 {
    switch layout {
    case .int8: base &+ Int64(values.load(fromByteOffset: row, as: UInt8.self))
    case .int16: base &+ Int64(values.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self))
    case .int32: base &+ Int64(values.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self))
    case .int64: base &+ values.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self)
    case .bits: Int64(values.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> UInt8(row & 7) & 1)
    case .float32: Int64(values.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self))
    case .float64: values.loadUnaligned(fromByteOffset: row &* 8, as: Int64.self)
    default: base
    }
  }

  /// The bytes of a row of a bytes column; unspecified if the row is null. O(1), no copy.
  @inlinable @inline(__always) public func bytes(at row: Int) -> UnsafeRawBufferPointer {
    switch layout {
    case .bytes16:
      let offsets = offsets.unsafelyUnwrapped  // a bytes layout has offsets: `init`'s contract
      let start = Int(offsets.loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self))
      let end = Int(offsets.loadUnaligned(fromByteOffset: row &* 2 &+ 2, as: UInt16.self))
      return UnsafeRawBufferPointer(start: values + start, count: end &- start)
    case .bytes32:
      let offsets = offsets.unsafelyUnwrapped  // as above
      let start = Int(offsets.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self))
      let end = Int(offsets.loadUnaligned(fromByteOffset: row &* 4 &+ 4, as: UInt32.self))
      return UnsafeRawBufferPointer(start: values + start, count: end &- start)
    case .fixed16: return UnsafeRawBufferPointer(start: values + row &* 16, count: 16)
    default: return UnsafeRawBufferPointer(start: values, count: Int(base))
    }
  }
}
