import Foundation
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageSQLite

/// The engines that cases are put to.
public enum ConformanceBackend: String, Sendable, CaseIterable {
  case memory, lmdb, sqlite

  /// Opens an empty store of its own in a folder.
  func open(in folder: URL, number: Int) throws -> any StorageEngine {
    let path = folder.appendingPathComponent("\(rawValue)-\(number)").path
    switch self {
    case .memory: return try MemoryBackend().open(OpenOptions())
    case .lmdb: return try LMDBBackend(path: path).open(OpenOptions())
    case .sqlite: return try SQLiteBackend(path: path).open(OpenOptions())
    }
  }
}
