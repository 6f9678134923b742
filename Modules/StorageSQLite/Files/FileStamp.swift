#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
import StorageInterface

/// A file's metadata, which changes when it is written, within the precision of the file system's times.
struct FileStamp: Equatable, Sendable {
  private let numbers: [Int64]

  /// Nil if there is no file.
  init?(_ path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    #if canImport(Darwin)
    let times = [info.st_mtimespec, info.st_ctimespec]
    #else
    let times = [info.st_mtim, info.st_ctim]
    #endif
    numbers =
      [Int64(truncatingIfNeeded: info.st_dev), Int64(truncatingIfNeeded: info.st_ino), Int64(info.st_size)]
      + times.flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] }
  }
}

extension Connection {
  /// Throws `.snapshotExpired` if the file is read as immutable and was written since it was opened: what was read until now may be
  /// of two versions. Call between reading and giving somebody what was read. A call of the system, only for such files.
  @inline(__always) func confirm() throws(StorageError) { if stamp != nil { try compareStamp() } }

  @inline(never) private func compareStamp() throws(StorageError) {
    if stamp != FileStamp(path) { throw .rewritten(path) }
  }
}

extension StorageError {
  /// Somebody has written a file that nobody was expected to write.
  static func rewritten(_ path: String) -> StorageError {
    StorageError(
      .snapshotExpired, .transaction, "Another program has written '\(path)' while it was read.",
      remedy: "End the transaction and begin another.")
  }
}
