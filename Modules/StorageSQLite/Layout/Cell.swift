import CVivariumSQLite
import StorageInterface
import StoreValues

/// The storage form of a scalar type in a column.
struct CellType: Sendable, Hashable {
  let type: ValueType
  let physical: PhysicalType
  /// Whether values are stored in another form than the bytes that are lent: true of decimals and mixed values. A scalar of
  /// such a type has a second column with its order key, by which it is sorted.
  let isTranslated: Bool

  init(_ type: ValueType) {
    self.type = type
    physical = type.physical
    isTranslated = !type.ordersByBytes
  }

  var isText: Bool { type == .string }
  var isWord: Bool { type.isWord }
  /// Whether NaN and −0.0 exist; they are stored as BLOBs of eight bytes.
  var isFloating: Bool { physical == .double || physical == .float }

  /// The declared SQL type of its columns.
  var declaration: String {
    switch physical {
    case .integer: "INTEGER"
    case .double, .float: "REAL"
    case .bytes: isText ? "TEXT" : "BLOB"
    case .bytes16: type == .decimal ? "TEXT" : "BLOB"
    }
  }

  /// The SQL literal of the BLOB for −0.0.
  var negativeZero: String { physical == .float ? "x'0000000080000000'" : "x'8000000000000000'" }
}

/// A value read from a row.
enum Cell {
  case null
  case word(Int64)
  /// A value that our engines never write: another program did.
  case foreign
}

extension Statement {
  /// The word in a column of the current row.
  @inline(__always) func word(_ column: Int32, _ type: CellType) -> Cell {
    switch type.physical {
    case .integer:
      switch sqlite3_column_type(pointer, column) {
      case SQLITE_INTEGER: return .word(sqlite3_column_int64(pointer, column))
      case SQLITE_NULL: return .null
      default: return .foreign
      }
    case .double, .float: return floating(column, type.physical)
    case .bytes, .bytes16: return .foreign
    }
  }

  @inline(__always) private func floating(_ column: Int32, _ physical: PhysicalType) -> Cell {
    switch sqlite3_column_type(pointer, column) {
    case SQLITE_FLOAT, SQLITE_INTEGER:
      let double = sqlite3_column_double(pointer, column)
      if physical == .float { return .word(Int64(Float(double).bitPattern)) }
      return .word(Int64(bitPattern: double.bitPattern))
    case SQLITE_NULL: return .null
    default: return wordInBlob(column, physical)
    }
  }

  @inline(never) private func wordInBlob(_ column: Int32, _ physical: PhysicalType) -> Cell {
    guard sqlite3_column_type(pointer, column) == SQLITE_BLOB else { return .foreign }
    let bytes = bytes(column)
    guard bytes.count == 8 else { return .foreign }
    let word = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    if physical == .float, word > UInt64(UInt32.max) { return .foreign }
    return .word(Int64(bitPattern: word))
  }

  /// Whether the column of the current row holds bytes of the right SQL type and length.
  @inline(__always) func holdsBytes(_ column: Int32, _ type: CellType) -> Bool {
    if type.isTranslated { return translate(column, type) }
    let found = sqlite3_column_type(pointer, column)
    if type.isText { return found == SQLITE_TEXT }
    guard found == SQLITE_BLOB else { return false }
    guard let wanted = type.type.fixedByteCount else { return true }
    return sqlite3_column_bytes(pointer, column) == wanted
  }

  /// The bytes that `holdsBytes` found, valid until the next step or translation.
  @inline(__always) func bytes(_ column: Int32, _ type: CellType) -> UnsafeRawBufferPointer {
    type.isTranslated ? translated : bytes(column)
  }
}
