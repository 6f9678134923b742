import CLMDB
import CSystem
import Coordination
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Storage
import Synchronization

/// LMDB never makes its file shorter. What it has to spare lies in lists of free pages, each with the transaction that freed
/// them, and the blocks of those that no version needs can be given back to the file system: the file keeps its length and
/// becomes sparse. LMDB writes such pages before it reads them again.
extension LMDBEnvironment {
  private static let spaceQueue = DispatchQueue(label: "vivarium.lmdb.space", qos: .utility)
  /// How long writers are held up at a time.
  private static let slice: Duration = .milliseconds(5)
  /// What a store may take beyond twice what it holds before space is given back by itself.
  private static let slackBytes = 4 << 20

  /// Gives back the blocks of all pages that no version needs: those freed by transactions up to the oldest that anybody
  /// reads. LMDB itself uses only older ones again, because a crash may put it back by one transaction; here that cannot be,
  /// as everything is on the disk. Holds the writer's lock for a few milliseconds at a time.
  /// Returns the bytes that the file takes less on the disk.
  func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int {
    try mark.check()
    guard let writerLock else {
      throw StorageError(.readOnly, .statement, "'\(files.data)' was opened for reading alone.", remedy: "Open it for writing.")
    }
    let before = files.allocatedBytes
    var number: Int32 = 0
    let file = cs_open(files.data, true, false, 0, &number)
    guard file >= 0 else { throw .system(number, .statement, doing: "open", path: files.data) }
    defer { close(file) }
    var next: UInt64? = 0
    while let from = next {
      let hold = try writerLock.acquire(deadline)
      if hold.followsDeath { bell.ring() }
      defer { hold.release() }
      clearDeadReaders()
      // Everything is on the disk then, and no crash puts the store back to a version that needs the pages.
      try safePoints.prepare(self, .full, bytes: 0)
      next = try punch(file, from: from)
    }
    return max(0, before - files.allocatedBytes)
  }

  /// Call with the writer's lock held: starts giving space back when the file takes far more than it holds.
  func giveBackSpaceIfDue() {
    guard isSpaceDue, !isReclaiming.exchange(true, ordering: .relaxed) else { return }
    LMDBEnvironment.spaceQueue.async { [weak self] in
      guard let self, !mark.isStale else { return }
      // What fails here is tried again some commits later.
      _ = try? reclaimSpace(.after(.seconds(2)))
      isReclaiming.store(false, ordering: .relaxed)
    }
  }

  /// Waits for what was begun so far. For tests.
  static func waitForSpace() { spaceQueue.sync {} }

  private var isSpaceDue: Bool {
    guard let transaction = try? beginRead() else { return false }
    defer { endRead(transaction) }
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    let spare = FreePages.count(transaction, through: oldestTransaction(transaction)) * pageSize
    let needed = (Int(info.me_last_pgno) + 1) * pageSize - spare
    return files.allocatedDataBytes > 2 * needed + LMDBEnvironment.slackBytes
  }

  /// Punches free pages from page `from` on until the time is over; where to go on, or nil at the end.
  private func punch(_ file: Int32, from: UInt64) throws(StorageError) -> UInt64? {
    let transaction = try beginRead()
    defer { endRead(transaction) }
    let end = ContinuousClock.now + LMDBEnvironment.slice
    for run in FreePages.runs(transaction, through: oldestTransaction(transaction)) where run.upperBound > from {
      if ContinuousClock.now > end { return run.lowerBound }
      let start = Int64(run.lowerBound) * Int64(pageSize)
      let length = Int64(run.count) * Int64(pageSize)
      // Holes already.
      if cs_data_from(file, start) >= start + length { continue }
      let number = cs_punch(file, start, length)
      if number == 0 { continue }
      // A file system without holes: then the space stays the store's.
      if number == EOPNOTSUPP || number == ENOSYS { return nil }
      throw .system(number, .statement, doing: "give back space of", path: files.data)
    }
    return nil
  }

  /// The oldest transaction that anybody reads, this read transaction included.
  private func oldestTransaction(_ transaction: OpaquePointer) -> UInt64 {
    let own = UInt64(mdb_txn_id(transaction))
    return LMDBStore.readers(self).compactMap(\.transaction).reduce(own, min)
  }

  private var pageSize: Int {
    var statistics = MDB_stat()
    mdb_env_stat(pointer, &statistics)
    return Int(statistics.ms_psize)
  }
}

/// LMDB's lists of free pages: under the number of the transaction that freed them a count and that many page numbers.
enum FreePages {
  /// How many there are, freed by transactions up to `oldest`; nil: by any.
  static func count(_ transaction: OpaquePointer, through oldest: UInt64?) -> Int {
    var pages = 0
    forEach(transaction, through: oldest) { pages += length(of: $0) }
    return pages
  }

  /// Runs of neighbouring pages that were freed by transactions up to `oldest`, ascending.
  static func runs(_ transaction: OpaquePointer, through oldest: UInt64) -> [Range<UInt64>] {
    var pages: [UInt64] = []
    forEach(transaction, through: oldest) { list in
      for i in 0..<length(of: list) {
        let page = list.loadUnaligned(fromByteOffset: 8 + i * 8, as: UInt64.self)
        // No map has such a page: the list is damaged.
        if page < 1 << 40 { pages.append(page) }
      }
    }
    pages.sort()
    var runs: [Range<UInt64>] = []
    for page in pages {
      if let last = runs.last, last.upperBound == page {
        runs[runs.count - 1] = last.lowerBound..<page + 1
      } else {
        runs.append(page..<page + 1)
      }
    }
    return runs
  }

  /// How many pages a list names; what it says of itself counts as far as it goes.
  private static func length(of list: UnsafeRawBufferPointer) -> Int {
    max(0, min(list.loadUnaligned(as: Int.self), list.count / 8 - 1))
  }

  private static func forEach(
    _ transaction: OpaquePointer, through oldest: UInt64?, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    let freeList: MDB_dbi = 0
    var cursor: OpaquePointer?
    guard mdb_cursor_open(transaction, freeList, &cursor) == 0, let cursor else { return }
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val()
    var value = MDB_val()
    while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 {
      guard key.mv_size >= 8, value.mv_size >= 8 else { continue }
      if let oldest, key.bytes.loadUnaligned(as: UInt64.self) > oldest { return }
      body(value.bytes)
    }
  }
}
