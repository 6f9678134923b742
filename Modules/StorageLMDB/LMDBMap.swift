import CVivariumLMDB
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Synchronization

/// Tells whether what LMDB lends lies in the file. LMDB believes the sizes in its pages, and the map is far longer than the
/// file: to read behind the file's end is a signal.
final class LMDBMap: Sendable {
  /// Of the system. What LMDB has looked at lies in the file with the rest of its page.
  private static let pageSize: UInt = 4_096
  private let file: Int32
  /// Where the map begins; 0 until it was needed, `.max` where it cannot be told.
  private let start = Atomic<UInt>(0)
  /// The address of the file's end as it was last. The file only grows.
  private let end = Atomic<UInt>(0)

  init(_ environment: OpaquePointer) {
    var file: Int32 = -1
    mdb_env_get_fd(environment, &file)
    self.file = file
  }

  /// Nothing but a comparison or two, unless the file has grown. A value of one page has its beginning where LMDB found it.
  @inline(__always) func holds(_ value: MDB_val) -> Bool {
    let first = UInt(bitPattern: value.mv_data)
    let size = UInt(bitPattern: value.mv_size)
    if (first & (LMDBMap.pageSize &- 1)) &+ size <= LMDBMap.pageSize, size <= LMDBMap.pageSize { return true }
    let (last, overflow) = first.addingReportingOverflow(size)
    if !overflow, last <= end.load(ordering: .relaxed) { return true }
    return !overflow && holds(first, last)
  }

  @inline(never) private func holds(_ first: UInt, _ last: UInt) -> Bool {
    var info = stat()
    guard fstat(file, &info) == 0, info.st_size >= 0 else { return false }
    let size = UInt(info.st_size)
    if start.load(ordering: .relaxed) == 0 { start.store(LMDBMap.start(of: first) ?? .max, ordering: .relaxed) }
    let start = start.load(ordering: .relaxed)
    // At least nothing is larger than the file.
    if start == .max { return last - first <= size }
    let end = start + size
    self.end.store(end, ordering: .relaxed)
    return last <= end
  }

  /// Where the map begins that has an address; nil where the system does not tell.
  private static func start(of address: UInt) -> UInt? {
    #if os(Linux)
    guard let maps = fopen("/proc/self/maps", "re") else { return nil }
    defer { fclose(maps) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), maps) != nil {
      // First-last, permissions, offset, device, and so on; what is longer goes on as a line that is none.
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let fields = text.split(separator: " ", maxSplits: 3)
      guard fields.count == 4 else { continue }
      let range = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard range.count == 2, range[0] <= address, address < range[1] else { continue }
      return UInt(fields[2], radix: 16).map { range[0] &- $0 }
    }
    #endif
    return nil
  }
}

/// The maps of a store's handles: each has one of its own, at an address of its own.
final class LMDBMaps: Sendable {
  private struct Entry: Sendable {
    let handle: UInt
    let map: LMDBMap
  }

  /// One, or a few.
  private let entries = Mutex<[Entry]>([])

  /// The map that a transaction reads. The store keeps its handles open meanwhile.
  func map(of transaction: OpaquePointer) -> LMDBMap? {
    guard let handle = mdb_txn_env(transaction) else { return nil }
    let number = UInt(bitPattern: handle)
    return entries.withLock { entries in
      if let entry = entries.first(where: { $0.handle == number }) { return entry.map }
      let map = LMDBMap(handle)
      entries.append(Entry(handle: number, map: map))
      return map
    }
  }
}
