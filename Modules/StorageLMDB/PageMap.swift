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

/// The file of a store as this adapter reads it: a second map beside LMDB's own, with the verification state of each page. LMDB
/// trusts its pages and ends the process over damaged ones; this map does not (CPages.h).
///
/// Lives as long as its readers, so the bytes it lends stay in place.
final class PageMap: Sendable {
  /// The minimum size of the first map of a file.
  static let bytesMin = 64 << 20
  private static let count = Atomic<UInt64>(0)

  // `nonisolated(unsafe)` is sound because the pointer is a constant, and the functions called with it are safe from any
  // thread.
  nonisolated(unsafe) let pointer: OpaquePointer
  /// Unique in the process, now and later, unlike the map's address, which may be reused.
  let number = PageMap.count.add(1, ordering: .relaxed).newValue
  let pageSize: Int
  let pageCount: UInt64
  private let file: Int32

  /// Maps the file of an open LMDB handle, which must stay open as long. Throws `.addressSpace`.
  init(_ handle: OpaquePointer, path: String, bytesMin: Int, before: PageMap? = nil) throws(StorageError) {
    var statistics = MDB_stat()
    mdb_env_stat(handle, &statistics)
    pageSize = max(Int(statistics.ms_psize), 512)
    var file: Int32 = -1
    mdb_env_get_fd(handle, &file)
    self.file = before?.file ?? file
    // Twice the size, so that a growing file has few maps.
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

  /// Whether the map has all of the file's pages up to `last`.
  func reaches(_ last: UInt64) -> Bool {
    last < pageCount || UInt64(PageMap.bytes(of: file) / pageSize) <= pageCount
  }

  private static func bytes(of file: Int32) -> Int {
    var info = stat()
    return fstat(file, &info) == 0 ? max(0, Int(info.st_size)) : 0
  }
}
