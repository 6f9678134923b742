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
  /// More lines than anybody's table has: the length of the file says how many there are, and could say anything.
  private static let linesMax = 1 << 16

  // Safe to share and to follow, whatever the file holds. It is set once, and unmapped by `end` alone, after LMDB's handles. It is
  // touched only as aligned atomic words (lines are cache lines, and so is what `tableStart` counts) within the `count` lines that were
  // mapped: `number` and `process` check that, and nothing else computes an address. What is read is only compared. A file that becomes
  // shorter meanwhile is not met here first: LMDB has the same lines mapped, and touches them in each transaction.
  /// The first line; nil if the file could not be mapped.
  nonisolated(unsafe) private let first: UnsafeMutableRawPointer?
  /// The number of lines.
  let count: Int

  init(_ files: LMDBFiles) throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(files.lock, true, false, 0, &number)
    guard file >= 0 else { throw .system(number, .transaction, doing: "open the table of readers", path: files.lock) }
    descriptor = file
    let start = LMDBFiles.tableStart
    let lines = min((Int(lseek(file, 0, SEEK_END)) - start) / LMDBFiles.readerSize, ReaderTable.linesMax)
    guard lines > 0, let map = mmap(nil, start + lines * LMDBFiles.readerSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      map != MAP_FAILED
    else {
      (first, count) = (nil, 0)
      return
    }
    (first, count) = (map + start, lines)
  }

  /// Call after LMDB's handles were closed, once.
  func end() {
    if let first { munmap(first - LMDBFiles.tableStart, LMDBFiles.tableStart + count * LMDBFiles.readerSize) }
    close(descriptor)
  }

  /// Where a line has the number of its transaction; nil if there is no such line.
  func number(_ line: Int) -> UnsafeMutablePointer<UInt64>? {
    guard (0..<count).contains(line) else { return nil }
    return first.map { ($0 + line * LMDBFiles.readerSize).assumingMemoryBound(to: UInt64.self) }
  }

  /// The process that has a line; 0: nobody.
  func process(_ line: Int) -> Int32 {
    guard (0..<count).contains(line), let first else { return 0 }
    let place = first + line * LMDBFiles.readerSize + ReaderTable.processOffset
    return Int32(bitPattern: cs_load32(place.assumingMemoryBound(to: UInt32.self)))
  }
}
