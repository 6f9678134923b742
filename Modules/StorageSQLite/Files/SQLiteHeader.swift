import CVivariumSQLite
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

/// The kind of file at a path, by its first bytes. Reading changes nothing.
enum SQLiteHeader: Equatable {
  case missing
  /// A regular file without content.
  case empty
  /// Anything else: a directory, a text, another program's SQLite file.
  case foreign(String)
  /// A store; encrypted if it has a mark.
  case ours(format: Int32, SealMark?)

  static func read(_ path: String) throws(StorageError) -> SQLiteHeader {
    var info = stat()
    guard stat(path, &info) == 0 else {
      if errno == ENOENT { return .missing }
      throw .system(errno, doing: "look at", path: path)
    }
    guard info.st_mode & S_IFMT == S_IFREG else { return .foreign("it is no regular file") }
    if info.st_size == 0 { return .empty }
    guard access(path, R_OK) == 0 else { throw .system(errno, doing: "read", path: path) }
    guard info.st_size >= 100 else { return .foreign("it is no SQLite file") }
    return try classify(try firstBytes(path), size: Int64(info.st_size), path)
  }

  private static func firstBytes(_ path: String) throws(StorageError) -> [UInt8] {
    // As stored, encrypted or not.
    let connection = try Connection(StoreFile(path: path), flags: SQLITE_OPEN_READONLY)
    var bytes = [UInt8](repeating: 0, count: 100)
    let code = csqlite_read_header(connection.database, &bytes, 100)
    guard code == SQLITE_OK else { throw connection.failure(code, .engine, doing: "read '\(path)'") }
    return bytes
  }

  private static func classify(_ bytes: [UInt8], size: Int64, _ path: String) throws(StorageError) -> SQLiteHeader {
    let mark = bytes.withUnsafeBytes { SealMark($0) }
    guard mark != nil || bytes.starts(with: SealMark.plainName) else { return .foreign("it is no SQLite file") }
    func number(_ at: Int) -> Int64 { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int64($1) } }
    guard number(68) == Int64(MetaTables.applicationID) else { return .foreign("it is another program's SQLite file") }
    let pageSize = bytes[16] == 0 && bytes[17] == 1 ? 65536 : Int64(bytes[16]) << 8 | Int64(bytes[17])
    // Text is read as it is stored. 0: nothing was written yet.
    guard mark != nil || (0...1).contains(number(56)) else {
      throw StorageError(
        .corrupt, .engine, "'\(path)' is damaged: its first page says that its text is not UTF-8.", remedy: "Restore the file from a copy.")
    }
    // The header's length is valid if the last writer maintained it; a log may hold pages beyond the file.
    let isLengthKnown = number(24) == number(92)
    var log = stat()
    let hasLog = stat(path + "-wal", &log) == 0 && log.st_size > 0
    if isLengthKnown, !hasLog, size < number(28) * pageSize {
      throw StorageError(
        .corrupt, .engine, "'\(path)' is cut short: \(size) bytes of \(number(28) * pageSize).",
        remedy: "Restore the file from a copy.")
    }
    return .ours(format: Int32(truncatingIfNeeded: number(60)), mark)
  }
}
