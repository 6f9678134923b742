import CVivariumSQLite
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

extension StorageError.Code {
  /// SQLite failed for a reason without a code of its own here; see `underlyingCode`.
  public static let sqlite = Self(rawValue: "sqlite.error")
}

extension StorageError {
  /// The error for a result code of SQLite.
  ///
  /// - Parameters:
  ///   - code: the extended result code.
  /// - doing: the failed action, as it follows "Could not": "read 'Person'".
  /// - text: SQLite's message.
  /// - number: `errno` of the failed system call below; 0 if none failed.
  static func sqlite(_ code: Int32, _ scope: Scope, doing: String, text: String, system number: Int32 = 0) -> StorageError {
    let message = "Could not \(doing): \(text)."
    func error(_ kind: Code, _ scope: Scope, _ remedy: String) -> StorageError {
      StorageError(kind, scope, message, remedy: remedy, underlyingCode: code)
    }
    switch (code & 0xFF, number) {
    case (SQLITE_IOERR, ENOSPC), (SQLITE_IOERR, EDQUOT), (SQLITE_CANTOPEN, ENOSPC), (SQLITE_CANTOPEN, EDQUOT):
      return error(.outOfDiskSpace, max(scope, .transaction), "Free space on the volume and try again.")
    case (SQLITE_CANTOPEN, EMFILE), (SQLITE_CANTOPEN, ENFILE), (SQLITE_IOERR, EMFILE), (SQLITE_IOERR, ENFILE):
      return error(
        .tooManyReaders, scope, "End read transactions that are no longer needed, or raise the limit of open files.")
    default: break
    }
    switch code & 0xFF {
    case SQLITE_FULL:
      return error(.outOfDiskSpace, max(scope, .transaction), "Free space on the volume and try again.")
    case SQLITE_IOERR, SQLITE_PROTOCOL, SQLITE_NOLFS: return error(.io, max(scope, .transaction), "")
    case SQLITE_CORRUPT: return error(.corrupt, .engine, "Restore the file from a copy.")
    case SQLITE_NOTADB: return error(.foreignFile, .engine, "Check the path.")
    case SQLITE_READONLY: return error(.readOnly, max(scope, .transaction), "Give this user the permission to write.")
    case SQLITE_PERM, SQLITE_AUTH, SQLITE_CANTOPEN:
      return error(.permissionDenied, scope, "Give this user the permission to read and write the file and its directory.")
    case SQLITE_BUSY, SQLITE_LOCKED:
      return error(.writeTimeout, scope, "Another program holds the file; try again, or wait longer.")
    case SQLITE_TOOBIG: return error(.tooLarge, scope, "Keep values under a gigabyte.")
    case SQLITE_CONSTRAINT: return error(.typeMismatch, scope, "")
    case SQLITE_NOMEM: return error(.sqlite, max(scope, .transaction), "")
    default: return error(.sqlite, scope, "")
    }
  }

  static func misuse(_ message: String) -> StorageError { StorageError(.misuse, .statement, message) }
  static var ended: StorageError { StorageError(.closed, .transaction, "The transaction has ended.") }
  static var closedEngine: StorageError {
    StorageError(.closed, .engine, "The store is closed.", remedy: "Open it again.")
  }
  /// SQLite returned rows in another order than requested.
  static func outOfOrder(_ name: String) -> StorageError {
    StorageError(
      .corrupt, .statement, "\(name) has rows that are out of their order.", remedy: "Restore the file from a copy.")
  }
  /// A number that is impossible for the file.
  static func impossible(_ what: String) -> StorageError {
    StorageError(.corrupt, .statement, "\(what) is more than the file can hold.", remedy: "Restore the file from a copy.")
  }
  /// Another program wrote a value that the column's type does not allow.
  static func foreignValue(in name: String) -> StorageError {
    StorageError(
      .corrupt, .statement, "\(name) holds a value of another type, written by another program.",
      remedy: "Correct the value with the program that wrote it.")
  }
}

/// The wider of two scopes.
private func max(_ a: StorageError.Scope, _ b: StorageError.Scope) -> StorageError.Scope {
  switch (a, b) {
  case (.engine, _), (_, .engine): .engine
  case (.transaction, _), (_, .transaction): .transaction
  case (.statement, .statement): .statement
  }
}
