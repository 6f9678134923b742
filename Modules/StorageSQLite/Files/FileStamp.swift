#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it

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
