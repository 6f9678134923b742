import StorageInterface
import StoreValues

/// The entry that holds the newest rows of a table, row by row, until there are enough to rewrite the columns
/// (Docs/FileFormat.md, "Fresh rows").
///
/// Key of position 0 u64, row count u16, column count u16, the property number u16 of each column; then for each row its
/// position u16 and its values. A word is a length byte (0: null, else 1 + the bytes of the zigzagged word without leading
/// zeroes); a byte string is a variable-length number (0: null, 1: in an entry of its own, else 2 + length) and the bytes.
enum FreshRows {
  /// Encoded fresh rows, valid while they are still the first rows of a chunk.
  struct Stored {
    let bytes: UnsafeRawBufferPointer
    /// The owner of the bytes, unless it is the snapshot.
    let owner: ValueBuffer?
    /// How many positions of the chunk they cover.
    let positions: Int
  }

  /// Encodes the live rows of a chunk whose cells are all edited; nil if they take more than `limit` bytes. `stored` rows are
  /// copied unchanged.
  static func encode(_ chunk: Chunk, _ shapes: [ColumnShape], limit: Int, stored old: Stored?) -> ValueBuffer? {
    let stored = shapes.indices.filter { shapes[$0].form != .none }
    var out: [UInt8] = []
    out.reserveCapacity(limit)
    append(UInt64(bitPattern: chunk.firstKey), to: &out)
    append(UInt16(truncatingIfNeeded: chunk.liveCount), to: &out)
    append(UInt16(truncatingIfNeeded: stored.count), to: &out)
    for slot in stored { append(shapes[slot].property.rawValue, to: &out) }
    var first = 0
    // Columns may have been added since; then every row has more values than before.
    if let old, old.bytes.count > out.count, out[10...].elementsEqual(old.bytes[10..<out.count]) {
      out += old.bytes[out.count...]
      first = old.positions
    }
    for position in first..<chunk.count where Bits.test(chunk.live, position) {
      append(UInt16(truncatingIfNeeded: position), to: &out)
      for slot in stored {
        guard let column = chunk.cells[slot].edited else { return nil }
        append(column, position, to: &out)
      }
      if out.count > limit { return nil }
    }
    return ValueBuffer(out)
  }

  static func append(_ column: EditedColumn, _ position: Int, to out: inout [UInt8]) {
    if column.form.isWord {
      if column.isNull(position) { return out.append(0) }
      let word = column.words[position]
      var zigzag = UInt64(bitPattern: (word << 1) ^ (word >> 63))
      let width = (64 - zigzag.leadingZeroBitCount + 7) / 8
      out.append(UInt8(1 + width))
      for _ in 0..<width {
        out.append(UInt8(truncatingIfNeeded: zigzag))
        zigzag >>= 8
      }
      return
    }
    if column.isNull(position) { return out.append(0) }
    if column.form == .bytes, column.isExternal(position) || column.slices[position].count > ExternalValues.inlineMax {
      return out.append(1)
    }
    let bytes = column.form == .bytes ? column.slices[position] : column.fixedBytes(position)
    var length = UInt64(bytes.count) + 2
    while length >= 0x80 {
      out.append(UInt8(truncatingIfNeeded: length) | 0x80)
      length >>= 7
    }
    out.append(UInt8(length))
    out.append(contentsOf: bytes)
  }

  private static func append<T: FixedWidthInteger>(_ number: T, to out: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { out.append(contentsOf: $0) }
  }

  /// Decodes a chunk with every cell edited. Byte strings stay in place, or with `copying` move to the chunk.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, _ shapes: [ColumnShape], rowsPerChunk: Int, copying: Bool = false
  ) throws(StorageError) -> Chunk {
    guard let start = bytes.baseAddress, bytes.count >= 12 else { throw .corrupt("the fresh rows of a table are cut off") }
    let firstKey: Int64 = start.number(0)
    let rowCount = Int(start.number(8, as: UInt16.self))
    let columnCount = Int(start.number(10, as: UInt16.self))
    guard firstKey > 0, firstKey < Int64.max - Int64(rowsPerChunk) * 2, bytes.count >= 12 + columnCount * 2 else {
      throw .corrupt("the fresh rows of a table have an impossible beginning")
    }
    let number = (firstKey - 1) / Int64(rowsPerChunk)
    let capacity = rowsPerChunk - Int((firstKey - 1) % Int64(rowsPerChunk))
    // A row takes two bytes for its position and at least one for each value.
    let left = bytes.count - 12 - columnCount * 2
    guard rowCount <= capacity, rowCount * (2 + columnCount) <= left else {
      throw .corrupt("the fresh rows of a table count more than there are")
    }
    let chunk = Chunk(number: number, firstKey: firstKey, capacity: capacity, cellCount: shapes.count)
    prepare(chunk, shapes, capacity: max(rowCount, 16))
    let slots = try slots(of: start + 12, columnCount, shapes)
    var isStored = [Bool](repeating: false, count: shapes.count)
    var columns: [EditedColumn] = []
    for slot in slots {
      guard !isStored[slot], let column = chunk.cells[slot].edited else {
        throw .corrupt("fresh rows have a column twice, or one that is not stored")
      }
      isStored[slot] = true
      columns.append(column)
    }
    let missing = shapes.indices.filter { shapes[$0].form != .none && !isStored[$0] }
    var input = Reader(bytes: bytes, offset: 12 + columnCount * 2)
    for _ in 0..<rowCount {
      let position = Int(try input.u16())
      guard position >= chunk.count, position < capacity else { throw .corrupt("fresh rows are out of order") }
      while chunk.count < position { appendDead(chunk, shapes) }
      for column in columns { try input.value(into: column, copying: copying) }
      for slot in missing { chunk.cells[slot].edited?.appendAbsent(shapes[slot]) }
      chunk.appendRow(position, isLive: true)
    }
    chunk.isMapChanged = false
    return chunk
  }

  /// The slots of the columns for which rows have values.
  private static func slots(
    of properties: UnsafeRawPointer, _ count: Int, _ shapes: [ColumnShape]
  ) throws(StorageError) -> [Int] {
    var slots: [Int] = []
    // They are listed in catalog order, so the next one mostly follows the last.
    var next = 0
    for i in 0..<count {
      let property = PropertyID(properties.number(i * 2, as: UInt16.self))
      guard let slot = shapes[next...].firstIndex(where: { $0.property == property })
        ?? shapes[..<next].firstIndex(where: { $0.property == property })
      else { throw .corrupt("fresh rows have a column that the catalog does not know") }
      slots.append(slot)
      next = slot + 1
    }
    return slots
  }

  /// Gives a chunk without rows an edited column in every cell.
  static func prepare(
    _ chunk: Chunk, _ shapes: [ColumnShape], capacity: Int, reusing columns: [EditedColumn?] = []
  ) {
    for (slot, shape) in shapes.enumerated() where shape.form != .none {
      let reused = slot < columns.count ? columns[slot] : nil
      reused?.reset()
      chunk.cells[slot].edited = reused ?? EditedColumn(form: shape.form, capacity: capacity)
      chunk.cells[slot].state = .edited
    }
  }

  /// Appends a position whose key belongs to no object.
  static func appendDead(_ chunk: Chunk, _ shapes: [ColumnShape]) {
    for slot in shapes.indices { chunk.cells[slot].edited?.appendAbsent(shapes[slot]) }
    chunk.appendRow(chunk.count, isLive: false)
  }

  /// Decodes values in the encoding of rows and short lists.
  struct Reader {
    let bytes: UnsafeRawBufferPointer
    var offset: Int

    static let damaged = StorageError.corrupt("the fresh rows of a table are cut off")

    mutating func u8() throws(StorageError) -> UInt8 {
      guard offset < bytes.count else { throw Reader.damaged }
      defer { offset += 1 }
      return bytes[offset]
    }

    mutating func u16() throws(StorageError) -> UInt16 {
      let low = UInt16(try u8())
      return low | UInt16(try u8()) << 8
    }

    mutating func value(into column: EditedColumn, copying: Bool = false) throws(StorageError) {
      if column.form.isWord {
        let tag = Int(try u8())
        if tag == 0 { return column.append(word: 0, isNull: true) }
        guard tag <= 9 else { throw Reader.damaged }
        var zigzag: UInt64 = 0
        for i in 0..<tag - 1 { zigzag |= UInt64(try u8()) << UInt64(i * 8) }
        return column.append(word: Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1), isNull: false)
      }
      var tag: UInt64 = 0
      var shift: UInt64 = 0
      while true {
        let byte = try u8()
        guard shift < 63 else { throw Reader.damaged }
        tag |= UInt64(byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 { break }
      }
      if tag == 0 { return column.append(bytes: nil) }
      if tag == 1, column.form == .bytes { return column.appendExternal() }
      guard tag >= 2, tag - 2 <= UInt64(bytes.count - offset), column.form == .bytes || tag == 18 else { throw Reader.damaged }
      let length = Int(tag - 2)
      column.appendStored(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]), copying: copying)
      offset += length
    }
  }
}

/// Byte strings stored in entries of their own, so that one large value does not make its neighbours costly.
enum ExternalValues {
  /// The longest byte string stored in a chunk.
  static let inlineMax = 1_024
  /// The most bytes of byte strings stored in one chunk of a column. A chunk's column is rewritten whole with each change of
  /// one string, so it must not grow to a megabyte. Beyond the limit, the chunk's longest strings get entries of their own too.
  static let chunkMax = 128 << 10
}
