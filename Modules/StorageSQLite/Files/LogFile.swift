#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

/// SQLite's write-ahead log, as a file. SQLite holds no locks on it, so our own descriptors may be opened and closed freely.
/// While a connection is open, the log is always the same file.
final class LogFile: Sendable {
  private let path: String
  private let descriptor: Int32

  /// Opens the existing log of a database in advance, so that syncing a commit needs no further resources.
  convenience init(database: String) throws(StorageError) { try self.init(path: database + "-wal") }

  init(path: String) throws(StorageError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, .transaction, doing: "open the log", path: path) }
  }

  deinit { close(descriptor) }

  /// Syncs a commit that is already visible. `.unsynced` if that fails.
  func syncCommit() throws(StorageError) {
    guard LogFile.syncToDisk(descriptor) != 0 else { return }
    throw StorageError(
      .unsynced, .engine, "The commit is in '\(path)', but the system could not bring it to the disk.",
      remedy: "Do not repeat it; close the store and look after the disk.", underlyingCode: errno)
  }

  /// Syncs the log. Does nothing if there is none.
  static func sync(database path: String) throws(StorageError) {
    let path = path + "-wal"
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return }
      throw .system(errno, doing: "open the log", path: path)
    }
    defer { close(file) }
    guard syncToDisk(file) == 0 else { throw .system(errno, doing: "sync the log", path: path) }
  }

  private static func syncToDisk(_ file: Int32) -> Int32 {
    #if canImport(Darwin)
    fcntl(file, F_FULLFSYNC)
    #else
    fdatasync(file)
    #endif
  }
}
