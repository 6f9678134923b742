#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

extension StorageError {
  /// `.fileExists` for a file that was to be created.
  public static func exists(_ path: String) -> StorageError {
    StorageError(
      .fileExists, .statement, "There is a file at '\(path)' already.", remedy: "Name a file that does not exist, or remove this one.")
  }

  /// `.cancelled` for a copy.
  public static func copyStopped(_ path: String) -> StorageError {
    StorageError(.cancelled, .statement, "The copy to '\(path)' was stopped before it was done; nothing is left of it.")
  }

  /// The error for a failed system call, with a code that callers can act on.
  ///
  /// - Parameters:
  ///   - number: the `errno` of the call.
  /// - doing: the failed action, as it follows "Could not": "open the bell file".
  /// - path: the file concerned.
  public static func system(
    _ number: Int32, _ scope: Scope = .engine, doing: String, path: String
  ) -> StorageError {
    let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
    let message = "Could not \(doing) '\(path)': \(reason)."
    switch number {
    case ENOENT, ENOTDIR:
      return StorageError(.fileNotFound, scope, message, remedy: "Check the path and its directory.", underlyingCode: number)
    case EACCES, EPERM, EROFS:
      return StorageError(
        .permissionDenied, scope, message, remedy: "Give this user the permission, or open read-only.",
        underlyingCode: number)
    case ENOSPC, EDQUOT:
      return StorageError(
        .outOfDiskSpace, scope, message, remedy: "Free space on the volume and try again.", underlyingCode: number)
    case EMFILE, ENFILE:
      return StorageError(
        .io, scope, message, remedy: "Close files, or raise the limit of open files.", underlyingCode: number)
    default:
      return StorageError(.io, scope, message, underlyingCode: number)
    }
  }
}
