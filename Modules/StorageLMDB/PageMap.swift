import CVivariumLMDB
import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
import StorageInterface
import Synchronization

/// The file of a store as this adapter reads it: mapped a second time, beside LMDB's own map, with what is known of each page.
/// LMDB believes what its pages say and ends the process over those that are damaged; this does not (CPages.h).
///
/// Lives as long as whoever reads in it: what it lends stays where it is.
final class PageMap: Sendable {
  /// Of the first map of a file.
  static let bytesMin = 64 << 20
  private static let count = Atomic<UInt64>(0)

  // `nonisolated(unsafe)` is sound because the pointer is a constant, and what is called with it is safe from any thread.
  nonisolated(unsafe) let pointer: OpaquePointer
  /// No other map of the process has it, or will have: its memory may be another's after it.
  let number = PageMap.count.add(1, ordering: .relaxed).newValue
  let pageSize: Int
  let pageCount: UInt64
  private let file: Int32

  /// Maps the file of an open handle of LMDB's, which has to stay open as long. Throws `.addressSpace`.
  init(_ handle: OpaquePointer, path: String, bytesMin: Int, before: PageMap? = nil) throws(StorageError) {
    var statistics = MDB_stat()
    mdb_env_stat(handle, &statistics)
    pageSize = max(Int(statistics.ms_psize), 512)
    var file: Int32 = -1
    mdb_env_get_fd(handle, &file)
    self.file = before?.file ?? file
    // Twofold, so that a file that grows has few maps.
    let bytes = max(bytesMin, PageMap.bytes(of: self.file).multipliedReportingOverflow(by: 2).partialValue)
    let whole = bytes / pageSize * pageSize
    var number: Int32 = 0
    guard let made = cs_pages_open(self.file, UInt32(pageSize), UInt64(whole), before?.pointer, &number) else {
      throw .lmdb(number, .statement, doing: "map", path: path)
    }
    pointer = made
    pageCount = UInt64(whole / pageSize)
  }

  deinit { cs_pages_close(pointer) }

  /// Whether all of the file's pages up to one fit in.
  func reaches(_ last: UInt64) -> Bool {
    last < pageCount || UInt64(PageMap.bytes(of: file) / pageSize) <= pageCount
  }

  private static func bytes(of file: Int32) -> Int {
    var info = stat()
    return fstat(file, &info) == 0 ? max(0, Int(info.st_size)) : 0
  }
}
