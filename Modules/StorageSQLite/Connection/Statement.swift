import CVivariumSQLite
import StorageInterface
import StoreValues

/// A prepared statement of a connection.
///
/// Prepared once and cached by its connection; a second one with the same text exists only for nested calls. Used by one thread
/// at a time, like its connection.
final class Statement {
  let pointer: OpaquePointer
  /// Its key in the cache.
  let key: StatementKey?
  /// Between `Connection.take` and `Connection.finish`. `@exclusivity(unchecked)`: nothing is called while it is accessed.
  @exclusivity(unchecked) var isBusy = false
  /// Not cached: finalized when finished.
  var isTransient = false
  /// Another statement of the same text, for a call nested in this one's rows.
  var next: Statement?

  /// The last result of `translate`, in memory of the statement.
  private(set) var translated = UnsafeRawBufferPointer(start: nil, count: 0)
  private var room = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  init(_ pointer: OpaquePointer, _ key: StatementKey? = nil) {
    self.pointer = pointer
    self.key = key
  }

  deinit { room.deallocate() }

  /// Copies bytes into `translated`.
  func keepTranslated(_ bytes: UnsafeRawBufferPointer) {
    if room.count < bytes.count {
      room.deallocate()
      room = .allocate(byteCount: max(64, bytes.count * 2), alignment: 8)
    }
    room.copyMemory(from: bytes)
    translated = UnsafeRawBufferPointer(start: room.baseAddress, count: bytes.count)
  }
}

extension Statement {
  /// A valid address for empty bytes: a null pointer would bind NULL.
  private static let empty: StaticString = "empty"

  @inline(__always) func bind(_ parameter: Int32, _ integer: Int64) {
    sqlite3_bind_int64(pointer, parameter, integer)
  }

  @inline(__always) func bindNull(_ parameter: Int32) { sqlite3_bind_null(pointer, parameter) }

  /// Binds a word of a column of that type. NaN and −0.0, which a REAL column would lose, are bound as BLOBs.
  @inline(__always) func bind(_ parameter: Int32, word: Int64, _ physical: PhysicalType) {
    switch physical {
    case .integer, .bytes, .bytes16: sqlite3_bind_int64(pointer, parameter, word)
    case .double:
      bind(parameter, Double(bitPattern: UInt64(bitPattern: word)), word)
    case .float:
      bind(parameter, Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))), word)
    }
  }

  @inline(__always) private func bind(_ parameter: Int32, _ double: Double, _ word: Int64) {
    if double.isNaN || (double == 0 && double.sign == .minus) {
      _ = csqlite_bind_word_blob(pointer, parameter, UInt64(bitPattern: word))
    } else {
      sqlite3_bind_double(pointer, parameter, double)
    }
  }

  /// Binds bytes without copying: they must outlive the statement's rows. Returns SQLite's result: `SQLITE_TOOBIG` for more
  /// bytes than it can hold.
  @inline(__always) func bind(_ parameter: Int32, bytes: UnsafeRawBufferPointer, isText: Bool) -> Int32 {
    let start = bytes.baseAddress ?? UnsafeRawPointer(Statement.empty.utf8Start)
    let count = sqlite3_uint64(bytes.count)
    // A nil destructor is SQLITE_STATIC: no copy.
    return isText
      ? sqlite3_bind_text64(
        pointer, parameter, start.assumingMemoryBound(to: CChar.self), count, nil, UInt8(SQLITE_UTF8))
      : sqlite3_bind_blob64(pointer, parameter, start, count, nil)
  }
}

extension Statement {
  /// An error of damage with the path of the file.
  func named(_ error: StorageError) -> StorageError {
    error.placed(nil, inFile: sqlite3_db_handle(pointer).flatMap { Connection.path(of: $0) })
  }

  @inline(__always) func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
  @inline(__always) func isInteger(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_INTEGER }
  @inline(__always) func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }

  /// Text or blob of the current row, valid until the next step. Text is as it is stored, which is UTF-8: asked for as text, SQLite would
  /// copy what lies on a page to end it by a zero, and give none where there is no memory for that.
  @inline(__always) func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(pointer, column)
    let count = Int(sqlite3_column_bytes(pointer, column))
    return UnsafeRawBufferPointer(start: count == 0 ? nil : start, count: start == nil ? 0 : count)
  }
}
