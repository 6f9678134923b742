#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
import StorageCoordination
import StorageInterface

extension Connection {
  /// Throws `.corrupt` if the main file was cut: if a page of the snapshot is in neither the file nor the log. SQLite reads such a page as
  /// zeroes, and in the middle of a long value nobody notices. Without a log the length of the file alone shows it (`SQLiteHeader`).
  ///
  /// Call in a transaction that has read: it keeps the log from restarting, and the file from becoming shorter. Takes microseconds, or
  /// reads the headers of the log's frames if the file is shorter than the snapshot, as a kill before a checkpoint leaves it.
  func checkPages(of file: StoreFile) throws(StorageError) {
    guard logIndex != nil, file.hasWrittenLog else { return }
    // Before the file's length: what was moved by now is in it.
    let frames = logFrames
    var info = stat()
    guard stat(file.path, &info) == 0 else { return }
    let (count, size) = (try number(of: "page_count"), max(1, try number(of: "page_size")))
    let whole = Int64(info.st_size) / size
    guard whole < count else { return }
    var missing = count - whole
    // SQLite never uses the page in which other systems have locks.
    if (whole + 1...count).contains(Connection.lockedByte / size + 1) { missing -= 1 }
    let found = try LogFile.pages(database: file.path, frames, size: size, in: whole + 1...count)
    guard Int64(found.count) < missing else { return }
    throw StorageError(
      .corrupt, .engine,
      "'\(file.path)' is cut short: \(info.st_size) bytes of \(count * size), and its log has \(found.count) of \(missing) missing pages.",
      remedy: "Restore the file from a copy.")
  }

  private static let lockedByte: Int64 = 1 << 30
}

extension LogFile {
  /// Which pages in `range` the log has frames of that are not in the main file yet. O(frames).
  fileprivate static func pages(
    database path: String, _ frames: LogFrames, size: Int64, in range: ClosedRange<Int64>
  ) throws(StorageError) -> Set<Int64> {
    let path = path + "-wal"
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .system(errno, doing: "open the log", path: path) }
    defer { close(file) }
    var pages: Set<Int64> = []
    for frame in Int64(min(frames.moved, frames.logged))..<Int64(frames.logged) {
      // After a header of 32 bytes: the page's number, 20 more bytes, the page.
      var number: UInt32 = 0
      guard pread(file, &number, 4, off_t(32 + frame * (24 + size))) == 4 else { break }
      let page = Int64(UInt32(bigEndian: number))
      if range.contains(page) { pages.insert(page) }
    }
    return pages
  }
}
