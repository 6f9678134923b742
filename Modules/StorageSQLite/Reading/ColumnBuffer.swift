import CVivariumSQLite
import StorageInterface
import StoreValues

/// One column of a batch: memory that is filled row by row and lent as a `ColumnVector`.
struct ColumnBuffer {
  let cell: CellType
  let capacity: Int
  private let values: UnsafeMutableRawPointer
  private let nulls: UnsafeMutablePointer<UInt64>
  private let offsets: UnsafeMutablePointer<UInt32>
  private var arena: UnsafeMutableRawPointer
  private var arenaCapacity: Int
  private(set) var arenaUsed = 0
  private var hasNulls = false

  /// The bytes per row in `values`.
  private var width: Int { cell.physical == .bytes16 ? 16 : cell.physical == .float ? 4 : cell.type == .bool ? 1 : 8 }
  private var nullWords: Int { (capacity + 63) / 64 }

  init(_ cell: CellType, capacity: Int) {
    self.cell = cell
    self.capacity = capacity
    let isBytes = cell.physical == .bytes
    values = .allocate(byteCount: isBytes ? 8 : capacity * 16, alignment: 16)
    nulls = .allocate(capacity: (capacity + 63) / 64)
    nulls.initialize(repeating: 0, count: (capacity + 63) / 64)
    offsets = .allocate(capacity: isBytes ? capacity + 1 : 1)
    offsets.initialize(repeating: 0, count: isBytes ? capacity + 1 : 1)
    arenaCapacity = isBytes ? capacity * 16 : 8
    arena = .allocate(byteCount: arenaCapacity, alignment: 16)
  }

  func deallocate() {
    values.deallocate()
    nulls.deallocate()
    offsets.deallocate()
    arena.deallocate()
  }

  mutating func start() {
    if hasNulls { for word in 0..<nullWords { nulls[word] = 0 } }
    hasNulls = false
    arenaUsed = 0
  }

  /// Appends a value of the statement's current row. False: it is not of the column's type.
  @inline(__always) mutating func append(_ statement: Statement, _ column: Int32, at row: Int) -> Bool {
    switch cell.physical {
    case .integer:
      guard sqlite3_column_type(statement.pointer, column) == SQLITE_INTEGER else {
        return appendNull(statement, column, at: row)
      }
      let word = sqlite3_column_int64(statement.pointer, column)
      if cell.type == .bool {
        values.storeBytes(of: UInt8(truncatingIfNeeded: word), toByteOffset: row, as: UInt8.self)
      } else {
        values.storeBytes(of: word, toByteOffset: row &* 8, as: Int64.self)
      }
    case .double, .float:
      guard case .word(let word) = statement.word(column, cell) else {
        return appendNull(statement, column, at: row)
      }
      if cell.physical == .float {
        values.storeBytes(of: UInt32(truncatingIfNeeded: word), toByteOffset: row &* 4, as: UInt32.self)
      } else {
        values.storeBytes(of: word, toByteOffset: row &* 8, as: Int64.self)
      }
    case .bytes16:
      guard statement.holdsBytes(column, cell) else { return appendNull(statement, column, at: row) }
      let bytes = statement.bytes(column, cell)
      UnsafeMutableRawBufferPointer(start: values + row &* 16, count: 16).copyMemory(from: bytes)
    case .bytes:
      offsets[row] = UInt32(truncatingIfNeeded: arenaUsed)
      offsets[row &+ 1] = UInt32(truncatingIfNeeded: arenaUsed)
      guard statement.holdsBytes(column, cell) else { return appendNull(statement, column, at: row) }
      keep(statement.bytes(column, cell))
      offsets[row &+ 1] = UInt32(truncatingIfNeeded: arenaUsed)
    }
    return true
  }

  /// Adds a row that is not live: unspecified but readable.
  mutating func appendHole(at row: Int) {
    if cell.physical == .bytes {
      offsets[row] = UInt32(truncatingIfNeeded: arenaUsed)
      offsets[row + 1] = UInt32(truncatingIfNeeded: arenaUsed)
    } else {
      (values + row * width).initializeMemory(as: UInt8.self, repeating: 0, count: width)
    }
  }

  /// The word of a row of a word column; nil is null.
  @inline(__always) func word(at row: Int) -> Int64? {
    if hasNulls, nulls[row >> 6] >> UInt64(row & 63) & 1 == 1 { return nil }
    switch cell.physical {
    case .integer where cell.type == .bool: return Int64(values.load(fromByteOffset: row, as: UInt8.self))
    case .float: return Int64(values.load(fromByteOffset: row &* 4, as: UInt32.self))
    default: return values.load(fromByteOffset: row &* 8, as: Int64.self)
    }
  }

  private mutating func appendNull(_ statement: Statement, _ column: Int32, at row: Int) -> Bool {
    // The contents of a null row are unspecified but must be readable.
    if cell.physical != .bytes { (values + row * width).initializeMemory(as: UInt8.self, repeating: 0, count: width) }
    nulls[row >> 6] |= 1 << UInt64(row & 63)
    hasNulls = true
    return statement.isNull(column)
  }

  @inline(__always) private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
    if arenaUsed &+ bytes.count > arenaCapacity { grow(by: bytes.count) }
    if let start = bytes.baseAddress { (arena + arenaUsed).copyMemory(from: start, byteCount: bytes.count) }
    arenaUsed += bytes.count
  }

  private mutating func grow(by count: Int) {
    arenaCapacity = (arenaUsed + count) * 2
    let larger = UnsafeMutableRawPointer.allocate(byteCount: arenaCapacity, alignment: 16)
    larger.copyMemory(from: arena, byteCount: arenaUsed)
    arena.deallocate()
    arena = larger
  }

  func vector(count: Int) -> ColumnVector {
    let nulls = hasNulls ? UnsafePointer(nulls) : nil
    let layout: ColumnVector.Layout =
      switch cell.physical {
      case .integer: cell.type == .bool ? .int8 : .int64
      case .double: .float64
      case .float: .float32
      case .bytes16: .fixed16
      case .bytes: .bytes32
      }
    return ColumnVector(
      layout: layout, count: count, values: cell.physical == .bytes ? arena : values,
      offsets: cell.physical == .bytes ? UnsafeRawPointer(offsets) : nil, nulls: nulls)
  }
}
