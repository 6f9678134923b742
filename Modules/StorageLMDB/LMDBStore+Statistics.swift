import CVivariumLMDB
import ColumnStore
import StorageCoordination
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import StoreValues

extension LMDBStore {
  package func statistics() throws(StorageError) -> StorageStatistics {
    let environment = try environment()
    let (transaction, view) = try environment.beginView()
    defer { environment.endRead(transaction) }
    try environment.pages.checkSpare()
    let version = try environment.version(of: view)
    let number = UInt64(mdb_txn_id(transaction))
    var result = StorageStatistics()
    result.fileBytes = environment.files.allocatedBytes
    result.freeBytes = FreePages.count(transaction, through: nil) * traits.pageSize
    var info = MDB_envinfo()
    mdb_env_info(environment.pointer, &info)
    // Of a version as new as ours or slightly newer: a number for display.
    result.liveBytes = max(0, (Int(info.me_last_pgno) + 1) * traits.pageSize - result.freeBytes)
    // Excludes our own transaction here and those of safe points, which go away by themselves.
    var readers = environment.safePoints.withoutPins(of: getpid()) { LMDBStore.readers(environment) }
    readers += environment.outsideReaders
    let oldest = readers.compactMap(\.transaction).reduce(number, min)
    result.heldBytes = max(0, result.freeBytes - FreePages.count(transaction, through: oldest) * traits.pageSize)
    if let own = readers.firstIndex(of: Reader(process: getpid(), transaction: number)) { readers.remove(at: own) }
    let pins = readers.compactMap { reader -> VersionPin? in
      guard let read = reader.transaction else { return nil }
      // Each transaction made one version.
      let distance = number > read ? number - read : 0
      let pinned = version.rawValue > distance ? version.rawValue - distance : 0
      return VersionPin(version: Version(pinned), processID: reader.process)
    }
    result.pins = pins.named(by: HolderTable.holders(path: environment.files.coordination), isComplete: true)
    return result
  }

  /// A line of LMDB's table of readers, or a reader outside of it. `transaction` is nil if it holds nothing, `process` 0 if unknown.
  struct Reader: Equatable {
    var process: Int32
    var transaction: UInt64?
  }

  /// The table of readers, for all processes.
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

  /// Parses LMDB's text form of the table: process, thread in hexadecimal, transaction or "-".
  static func parse(_ text: String) -> [Reader] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count == 3, let process = Int32(fields[0]) else { return nil }
      return Reader(process: process, transaction: UInt64(fields[2]))
    }
  }
}
