#if Encryption
import CVivariumSQLite
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport
@testable import StorageSQLite

/// A file below a connection, read as SQLite reads it.
struct OpenFile {
  private let file: UnsafeMutablePointer<sqlite3_file>

  /// - Parameter which: `SQLITE_FCNTL_FILE_POINTER` for the main file, `SQLITE_FCNTL_JOURNAL_POINTER` for the log, once the connection
  ///   has read.
  init(_ which: Int32, of connection: Connection) throws {
    var found: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &found) { sqlite3_file_control(connection.database, "main", which, $0) }
    #expect(code == SQLITE_OK)
    file = try #require(found)
  }

  func read(_ count: Int, at offset: Int) -> (code: Int32, bytes: [UInt8]) {
    var bytes = [UInt8](repeating: 0, count: count)
    let code = bytes.withUnsafeMutableBytes { bytes in
      file.pointee.pMethods.pointee.xRead(file, bytes.baseAddress, Int32(bytes.count), Int64(offset))
    }
    return (code, bytes)
  }

  /// The bits of `SQLITE_IOCAP_`.
  var characteristics: Int32 { file.pointee.pMethods.pointee.xDeviceCharacteristics(file) }
}

extension Place {
  /// The store's file at a path, for connections of their own.
  func file(_ path: String) -> StoreFile { StoreFile(path: path, seal: FileSeal(key)) }

  /// A copy of a store's file and log, as a process that is killed leaves them.
  func killed(_ path: String, log: [UInt8]? = nil) throws -> String {
    let other = folder.file("killed-\(UUID().uuidString)").path
    for suffix in ["", "-wal"] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path + suffix))
      try (suffix.isEmpty ? bytes : log.map { Data($0) } ?? bytes).write(to: URL(fileURLWithPath: other + suffix))
    }
    return other
  }
}
#endif
