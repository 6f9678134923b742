import CVivariumLMDB
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

extension StorageError {
  /// The error for a result code of LMDB: one of its own negative codes, or an errno value.
  static func lmdb(_ code: Int32, _ scope: Scope, doing: String, path: String) -> StorageError {
    let text = mdb_strerror(code).map { String(cString: $0) } ?? "error \(code)"
    let message = "Could not \(doing) '\(path)': \(text)."
    func error(_ name: Code, _ scope: Scope, _ remedy: String) -> StorageError {
      StorageError(name, scope, message, remedy: remedy, underlyingCode: code)
    }
    switch code {
    case MDB_INVALID:
      return error(.foreignFile, .engine, "Give the path of a store, or of a file that does not exist yet.")
    case MDB_VERSION_MISMATCH:
      return error(.unsupportedVersion, .engine, "Every program that has the store open must use the same LMDB.")
    case MDB_CORRUPTED, MDB_PAGE_NOTFOUND:
      return error(.corrupt, .engine, "Restore the store from a copy.")
    case MDB_PANIC:
      return error(.io, .engine, "Close the store and open it again.")
    case MDB_MAP_FULL, MDB_MAP_RESIZED:
      return error(.addressSpace, scope, "Close other stores, or run where a process may have more address space.")
    case MDB_READERS_FULL:
      return error(.tooManyReaders, .statement, "End snapshots that are no longer needed.")
    case MDB_BAD_VALSIZE:
      return error(.tooLarge, scope, "Store the value in pieces.")
    case EFBIG:
      return error(.outOfDiskSpace, scope, "Raise the limit of the size of files.")
    case ENOMEM:
      return error(.addressSpace, scope, "Close other stores, or run with more memory.")
    case 1...:
      return .system(code, scope, doing: doing, path: path)
    default:
      return error(.io, scope, "")
    }
  }

  static func closed(_ path: String) -> StorageError {
    StorageError(.closed, .engine, "The store '\(path)' was closed.", remedy: "Open it again.")
  }

  static func ended(_ path: String) -> StorageError {
    StorageError(.closed, .transaction, "The transaction on '\(path)' has ended.", remedy: "Begin another.")
  }
}
