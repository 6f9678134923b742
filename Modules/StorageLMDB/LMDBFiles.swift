#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Coordination
import CSystem
import Storage

/// The files of one store, all beside each other.
struct LMDBFiles: Sendable, Hashable {
  /// The data. Absolute and free of symbolic links: LMDB names its lock file after the path it is given, and two
  /// processes with different lock files would destroy each other's data.
  let data: String

  /// LMDB's table of readers and its mutex. Never opened by us: closing any descriptor of it would drop the
  /// process's POSIX locks, and with them its readers' protection.
  var lock: String { data + "-lock" }
  /// The order of writers.
  var coordination: String { data + ".coord" }
  /// Rings after each commit.
  var bell: String { data + ".bell" }

  var all: [String] { [data, lock, bell, coordination] }

  /// The files of the store that `path` leads to; nil when there is no file there.
  init?(existing path: String) {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    data = String(cString: resolved)
  }

  /// Makes an empty data file when none is there.
  static func creating(_ path: String, mode: UInt32) throws(StorageError) -> LMDBFiles {
    var number: Int32 = 0
    let file = cs_open(path, true, true, mode, &number)
    guard file >= 0 else { throw openError(number, path) }
    close(file)
    guard let files = LMDBFiles(existing: path) else { throw openError(errno, path) }
    return files
  }

  static func openError(_ number: Int32, _ path: String) -> StorageError {
    if number == EISDIR {
      return StorageError(
        .foreignFile, .engine, "'\(path)' is a directory, not a store.", remedy: "Give the path of a file.",
        underlyingCode: number)
    }
    return .system(number, doing: "open the store", path: path)
  }
}
