import StorageInterface
import StoreValues

/// The header of an encoded column (Docs/FileFormat.md, "Columns"). 24 bytes:
/// layout u8, flags u8, row count u16, null count u16, 0 u16, lowest ordinal i64, highest ordinal i64.
enum ColumnHeader {
  static let size = 24
  static let hasNulls: UInt8 = 1
  static let hasExternal: UInt8 = 2

  /// The numbers of the layouts in the file.
  enum Layout: UInt8 {
    case int8 = 1, int16, int32, int64, bits, float32, float64, bytes16, bytes32, fixed16, constantWord, constantBytes
  }

  static func write(
    _ out: UnsafeMutableRawPointer, _ layout: Layout, flags: UInt8, count: Int, nullCount: Int, min: Int64, max: Int64
  ) {
    out.store(layout.rawValue, at: 0)
    out.store(flags, at: 1)
    out.store(UInt16(truncatingIfNeeded: count), at: 2)
    out.store(UInt16(truncatingIfNeeded: nullCount), at: 4)
    out.store(UInt16(0), at: 6)
    out.store(min, at: 8)
    out.store(max, at: 16)
  }
}

/// A decoded column: a vector over bytes that stay in place, and the rest of the header.
struct DecodedColumn {
  var vector: ColumnVector
  /// Rows whose bytes are in an entry of their own.
  var external: UnsafePointer<UInt64>?
  /// Memory for bitmaps that were copied for alignment.
  var scratch: ValueBuffer?
}

extension DecodedColumn {
  /// Reads the header and proves that every row lies within the bytes, so that the vector's unchecked reads stay inside.
  /// `bytes` must outlive the vector. O(1) for numbers, O(rows) for strings.
  init(_ bytes: UnsafeRawBufferPointer, form: ColumnShape.Form, count: Int) throws(StorageError) {
    guard let start = bytes.baseAddress, bytes.count >= ColumnHeader.size,
      let layout = ColumnHeader.Layout(rawValue: start.number(0, as: UInt8.self))
    else { throw .corrupt("a column has no header") }
    let flags = start.number(1, as: UInt8.self)
    guard Int(start.number(2, as: UInt16.self)) == count, count > 0 else {
      throw .corrupt("a column has another number of rows than its chunk")
    }
    var offset = ColumnHeader.size
    let bitmapCount = (flags & ColumnHeader.hasNulls != 0 ? 1 : 0) + (flags & ColumnHeader.hasExternal != 0 ? 1 : 0)
    let bitmapBytes = Bits.byteCount(count)
    guard bytes.count >= offset + bitmapCount * bitmapBytes else { throw .corrupt("a column is cut off") }
    var bitmaps = start + offset
    scratch = nil
    if bitmapCount > 0, Int(bitPattern: bitmaps) & 7 != 0 {
      let copy = ValueBuffer(
        copying: UnsafeRawBufferPointer(start: bitmaps, count: bitmapCount * bitmapBytes))
      scratch = copy
      // A buffer always has an address; it lives as long as `scratch`, which the vector's owner keeps.
      bitmaps = copy.bytes.baseAddress.unsafelyUnwrapped
    }
    var nulls: UnsafePointer<UInt64>?
    if flags & ColumnHeader.hasNulls != 0 {
      nulls = bitmaps.assumingMemoryBound(to: UInt64.self)
      bitmaps += bitmapBytes
    }
    if flags & ColumnHeader.hasExternal != 0 {
      guard form == .bytes else { throw .corrupt("a column of numbers has values outside it") }
      external = bitmaps.assumingMemoryBound(to: UInt64.self)
    }
    offset += bitmapCount * bitmapBytes
    let (min, max): (Int64, Int64) = (start.number(8), start.number(16))
    let data = start + offset
    let size = bytes.count - offset
    func need(_ needed: Int, _ forms: ColumnShape.Form...) throws(StorageError) {
      guard size >= needed else { throw .corrupt("a column is cut off") }
      guard forms.contains(form) else { throw .corrupt("a column holds another type than its property") }
    }
    var base: Int64 = 0
    var offsets: UnsafeRawPointer?
    var values = data
    let vectorLayout: ColumnVector.Layout
    switch layout {
    case .int8:
      try need(count, .integer)
      (vectorLayout, base) = (.int8, min)
    case .int16:
      try need(count * 2, .integer)
      (vectorLayout, base) = (.int16, min)
    case .int32:
      try need(count * 4, .integer)
      (vectorLayout, base) = (.int32, min)
    case .int64:
      try need(count * 8, .integer)
      (vectorLayout, base) = (.int64, min)
    case .bits:
      try need((count + 7) / 8, .bit)
      vectorLayout = .bits
    case .float32:
      try need(count * 4, .float)
      vectorLayout = .float32
    case .float64:
      try need(count * 8, .double)
      vectorLayout = .float64
    case .bytes16, .bytes32:
      let width = layout == .bytes16 ? 2 : 4
      try need((count + 1) * width, .bytes)
      offsets = data
      values = data + (count + 1) * width
      guard DecodedColumn.areAscending(data, width, count + 1, limit: size - (count + 1) * width) else {
        throw .corrupt("the offsets of a column leave it")
      }
      vectorLayout = layout == .bytes16 ? .bytes16 : .bytes32
    case .fixed16:
      try need(count * 16, .fixed16)
      vectorLayout = .fixed16
    case .constantWord:
      try need(8, .bit, .integer, .float, .double)
      (vectorLayout, base) = (.constantWord, data.number(0))
    case .constantBytes:
      try need(form == .fixed16 ? 16 : 0, .bytes, .fixed16)
      // Bytes after the first sixteen are not part of the value.
      (vectorLayout, base) = (.constantBytes, form == .fixed16 ? 16 : Int64(size))
    }
    vector = ColumnVector(
      layout: vectorLayout, count: count, base: base, values: values, offsets: offsets, nulls: nulls, min: min, max: max)
  }

  private static func areAscending(_ offsets: UnsafeRawPointer, _ width: Int, _ count: Int, limit: Int) -> Bool {
    var last: UInt64 = 0
    var isAscending = true
    if width == 2 {
      for i in 0..<count {
        let next = UInt64(offsets.number(i &* 2, as: UInt16.self))
        isAscending = isAscending && next >= last
        last = next
      }
    } else {
      for i in 0..<count {
        let next = UInt64(offsets.number(i &* 4, as: UInt32.self))
        isAscending = isAscending && next >= last
        last = next
      }
    }
    return isAscending && last <= UInt64(limit)
  }

  /// The column of a chunk that never stored it.
  init(absent shape: ColumnShape, count: Int) {
    // A buffer always has an address; the shape keeps it as long as there is a transaction.
    let bytes = (shape.absentBytes ?? DecodedColumn.zeroes).bytes
    let values = bytes.baseAddress.unsafelyUnwrapped
    let nulls = shape.absentIsNull ? Bits.allSet : nil
    if shape.form.isWord {
      vector = ColumnVector(layout: .constantWord, count: count, base: shape.absentWord, values: values, nulls: nulls)
    } else {
      vector = ColumnVector(
        layout: .constantBytes, count: count, base: Int64(bytes.count), values: values, nulls: nulls)
    }
    external = nil
    scratch = nil
  }

  private static let zeroes = ValueBuffer([UInt8](repeating: 0, count: 16))
}
