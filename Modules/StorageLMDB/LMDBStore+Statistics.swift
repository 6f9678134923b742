import CLMDB
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Storage
import Values

extension LMDBStore {
  package func statistics() throws(StorageError) -> StorageStatistics {
    let environment = try environment()
    let transaction = try environment.beginRead()
    defer { environment.endRead(transaction) }
    let version = try environment.version(of: transaction)
    let number = UInt64(mdb_txn_id(transaction))
    var result = StorageStatistics()
    result.fileBytes = environment.files.all.reduce(0) { $0 + LMDBStore.allocatedBytes($1) }
    result.freeBytes = LMDBStore.freePages(transaction) * pageSize
    var readers = LMDBStore.readers(environment)
    // Our own look at the table is no pin, nor what the safe point holds.
    if let own = readers.firstIndex(of: Reader(process: getpid(), transaction: number)) { readers.remove(at: own) }
    if let held = environment.safePoints.pinned,
      let own = readers.firstIndex(of: Reader(process: getpid(), transaction: held)) {
      readers.remove(at: own)
    }
    result.pins = readers.compactMap { reader in
      guard let read = reader.transaction else { return nil }
      // Each transaction made one version.
      let distance = number > read ? number - read : 0
      let pinned = version.rawValue > distance ? version.rawValue - distance : 0
      return VersionPin(version: Version(pinned), processID: reader.process)
    }
    return result
  }

  /// A line of LMDB's table of readers. `transaction` is nil where nothing is held.
  struct Reader: Equatable {
    var process: Int32
    var transaction: UInt64?
  }

  /// The table of readers, of all processes.
  static func readers(_ environment: LMDBEnvironment) -> [Reader] {
    var text = ""
    withUnsafeMutablePointer(to: &text) { text in
      _ = mdb_reader_list(environment.pointer, { line, context in
        if let line, let context { context.assumingMemoryBound(to: String.self).pointee += String(cString: line) }
        return 0
      }, text)
    }
    return parse(text)
  }

  /// LMDB gives the table as text: process, thread in hexadecimal, transaction or "-".
  static func parse(_ text: String) -> [Reader] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count == 3, let process = Int32(fields[0]) else { return nil }
      return Reader(process: process, transaction: UInt64(fields[2]))
    }
  }

  private static func allocatedBytes(_ path: String) -> Int {
    var info = stat()
    // Blocks are of 512 bytes, whatever the file system's are.
    return stat(path, &info) == 0 ? Int(info.st_blocks) * 512 : 0
  }

  /// Pages in LMDB's list of free ones: each of its values begins with a count.
  private static func freePages(_ transaction: OpaquePointer) -> Int {
    let freeList: MDB_dbi = 0
    var cursor: OpaquePointer?
    guard mdb_cursor_open(transaction, freeList, &cursor) == 0, let cursor else { return 0 }
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val()
    var value = MDB_val()
    var pages = 0
    while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 {
      if value.mv_size >= MemoryLayout<Int>.size { pages += value.bytes.loadUnaligned(as: Int.self) }
    }
    return pages
  }
}
