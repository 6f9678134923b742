#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Coordination
import Storage

/// SQLite's write-ahead log, as a file. SQLite holds no locks on it, so a descriptor of ours may come and go.
enum LogFile {
  /// Brings what is in the log to the disk. No log, nothing to do.
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

  /// Brings the names in the file's directory to the disk.
  static func syncDirectory(of path: String) throws(StorageError) {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let file = open(directory, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .system(errno, doing: "open the directory", path: directory) }
    defer { close(file) }
    // Some file systems have no sync of directories; they keep names by themselves.
    if fsync(file) != 0, errno != EINVAL { throw .system(errno, doing: "sync the directory", path: directory) }
  }

  private static func syncToDisk(_ file: Int32) -> Int32 {
    #if canImport(Darwin)
    fcntl(file, F_FULLFSYNC)
    #else
    fdatasync(file)
    #endif
  }
}
