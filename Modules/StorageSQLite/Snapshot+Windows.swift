import CSQLite
import Storage
import Values

extension Snapshot: WindowedReading {
  final func window(_ id: ColumnID, containing key: ObjectKey) throws(StorageError) -> ColumnWindow? {
    try enter()
    defer { leave() }
    let column = try layout.scalar(id)
    let statement = try connection.take(StatementKey(.window, id.table.rawValue, id.property.rawValue)) {
      "SELECT _key, \(column.name) FROM \(layout.tableName(column)) WHERE _key >= ? AND _key < ? ORDER BY _key"
    }
    defer { connection.finish(statement) }
    let length = windows.length(id, at: key.rawValue)
    statement.bind(1, key.rawValue)
    let (end, overflow) = key.rawValue.addingReportingOverflow(length)
    statement.bind(2, overflow ? .max : end)
    guard try connection.step(statement, "read \(column.label)"), statement.int64(0) == key.rawValue else { return nil }
    return try column.cell.isWord || column.cell.physical == .bytes16
      ? fixedWindow(column, key.rawValue, Int(length), statement)
      : bytesWindow(column, key.rawValue, Int(length), statement)
  }

  private final func fixedWindow(
    _ column: ColumnLayout, _ first: Int64, _ length: Int, _ statement: Statement
  ) throws(StorageError) -> ColumnWindow {
    let cell = column.cell
    let width = cell.isWord ? 8 : 16
    let values = windows.allocate(length * width)
    var marks = WindowMarks()
    var count = 0
    repeat {
      let row = Int(statement.int64(0) - first)
      marks.beginRow(row, &windows, length)
      count = row + 1
      if cell.isWord {
        switch statement.word(1, cell) {
        case .word(let word): values.storeBytes(of: word, toByteOffset: row * 8, as: Int64.self)
        case .null: marks.setNull(row, &windows, length)
        case .foreign: throw .foreignValue(in: column.label)
        }
      } else if statement.holdsBytes(1, cell) {
        UnsafeMutableRawBufferPointer(start: values + row * 16, count: 16).copyMemory(from: statement.bytes(1, cell))
      } else {
        guard statement.isNull(1) else { throw .foreignValue(in: column.label) }
        marks.setNull(row, &windows, length)
      }
    } while try connection.step(statement, "read \(column.label)")
    // Words of every type as they are: a float's pattern is a word too.
    let layout: ColumnVector.Layout = cell.isWord ? (cell.physical == .double ? .float64 : .int64) : .fixed16
    if cell.physical == .float { WindowMarks.narrow(values, count) }
    return ColumnWindow(
      firstKey: first, live: marks.live(count, &windows, length),
      vector: ColumnVector(
        layout: cell.physical == .float ? .float32 : layout, count: count, values: values, nulls: marks.nulls))
  }

  private final func bytesWindow(
    _ column: ColumnLayout, _ first: Int64, _ length: Int, _ statement: Statement
  ) throws(StorageError) -> ColumnWindow {
    let cell = column.cell
    let offsets = windows.allocate((length + 1) * 4).bindMemory(to: UInt32.self, capacity: length + 1)
    var marks = WindowMarks()
    var count = 0
    var collected: [UInt8] = []
    repeat {
      let row = Int(statement.int64(0) - first)
      marks.beginRow(row, &windows, length)
      for hole in count...row { offsets[hole] = UInt32(truncatingIfNeeded: collected.count) }
      count = row + 1
      if statement.holdsBytes(1, cell) {
        let bytes = statement.bytes(1, cell)
        if length == 1 {
          // One row: straight from the page.
          let values = windows.allocate(bytes.count)
          if let start = bytes.baseAddress { values.copyMemory(from: start, byteCount: bytes.count) }
          offsets[1] = UInt32(truncatingIfNeeded: bytes.count)
          return ColumnWindow(
            firstKey: first, live: nil,
            vector: ColumnVector(layout: .bytes32, count: 1, values: values, offsets: UnsafeRawPointer(offsets)))
        }
        collected += bytes
      } else {
        guard statement.isNull(1) else { throw .foreignValue(in: column.label) }
        marks.setNull(row, &windows, length)
      }
      offsets[count] = UInt32(truncatingIfNeeded: collected.count)
      if collected.count >= 1 << 20 { break }
    } while try connection.step(statement, "read \(column.label)")
    let values = windows.allocate(collected.count)
    collected.withUnsafeBytes { if let start = $0.baseAddress { values.copyMemory(from: start, byteCount: $0.count) } }
    return ColumnWindow(
      firstKey: first, live: marks.live(count, &windows, length),
      vector: ColumnVector(
        layout: .bytes32, count: count, values: values, offsets: UnsafeRawPointer(offsets), nulls: marks.nulls))
  }
}

/// The bitmaps of a window in the making: made when the first hole or null turns up.
private struct WindowMarks {
  private var liveBits: UnsafeMutablePointer<UInt64>?
  private var nullBits: UnsafeMutablePointer<UInt64>?
  private var rowsSeen = 0
  private var hasHoles = false

  mutating func beginRow(_ row: Int, _ arena: inout WindowArena, _ length: Int) {
    if row != rowsSeen { hasHoles = true }
    rowsSeen = row + 1
    if length == 1 { return }
    if liveBits == nil { liveBits = WindowMarks.bitmap(&arena, length) }
    liveBits?[row >> 6] |= 1 << UInt64(row & 63)
  }

  mutating func setNull(_ row: Int, _ arena: inout WindowArena, _ length: Int) {
    if nullBits == nil { nullBits = WindowMarks.bitmap(&arena, length) }
    nullBits?[row >> 6] |= 1 << UInt64(row & 63)
  }

  var nulls: UnsafePointer<UInt64>? { nullBits.map { UnsafePointer($0) } }

  func live(_ count: Int, _ arena: inout WindowArena, _ length: Int) -> UnsafePointer<UInt64>? {
    hasHoles ? liveBits.map { UnsafePointer($0) } : nil
  }

  private static func bitmap(_ arena: inout WindowArena, _ length: Int) -> UnsafeMutablePointer<UInt64> {
    let words = (length + 63) / 64
    return arena.allocate(words * 8).bindMemory(to: UInt64.self, capacity: words)
  }

  /// Words of 32-bit patterns to the patterns side by side, in place.
  static func narrow(_ values: UnsafeMutableRawPointer, _ count: Int) {
    for row in 0..<count {
      values.storeBytes(of: values.load(fromByteOffset: row * 8, as: UInt32.self), toByteOffset: row * 4, as: UInt32.self)
    }
  }
}
