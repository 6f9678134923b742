import CVivariumLMDB
import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

/// LMDB's table of readers in a map of our own: LMDB tells who is in it, but not which line is whose.
///
/// Its descriptor stays open as long as LMDB's handles, because closing one of this file drops all locks that the process has on it.
struct ReaderTable: Sendable {
  /// In a line: the number of its transaction (`UInt64.max`: none), then the process.
  private static let processOffset = 8

  private let descriptor: Int32
  /// The first line; nil if the file could not be mapped. Safe to share: set once, unmapped by `end` alone, which nobody outlives, and each
  /// access is an atomic operation within the lines.
  nonisolated(unsafe) private let first: UnsafeMutableRawPointer?
  /// The number of lines.
  let count: Int

  init(_ files: LMDBFiles) throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(files.lock, true, false, 0, &number)
    guard file >= 0 else { throw .system(number, .transaction, doing: "open the table of readers", path: files.lock) }
    descriptor = file
    let length = Int(lseek(file, 0, SEEK_END))
    let start = LMDBFiles.tableStart
    guard length > start, let map = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), map != MAP_FAILED else {
      (first, count) = (nil, 0)
      return
    }
    (first, count) = (map + start, (length - start) / LMDBFiles.readerSize)
  }

  /// Call after LMDB's handles were closed, once.
  func end() {
    if let first { munmap(first - LMDBFiles.tableStart, LMDBFiles.tableStart + count * LMDBFiles.readerSize) }
    close(descriptor)
  }

  /// Where a line has the number of its transaction; nil if there is no such line.
  func number(_ line: Int) -> UnsafeMutablePointer<UInt64>? {
    guard line < count else { return nil }
    return first.map { ($0 + line * LMDBFiles.readerSize).assumingMemoryBound(to: UInt64.self) }
  }

  /// The process that has a line; 0: nobody.
  func process(_ line: Int) -> Int32 {
    guard line < count, let first else { return 0 }
    let place = first + line * LMDBFiles.readerSize + ReaderTable.processOffset
    return Int32(bitPattern: cs_load32(place.assumingMemoryBound(to: UInt32.self)))
  }
}
