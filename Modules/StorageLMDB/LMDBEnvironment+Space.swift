import CVivariumLMDB
import CVivariumSystem
import StorageCoordination
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import Synchronization

/// LMDB never makes its file shorter. What it has to spare lies in lists of free pages, each with the transaction that freed
/// them, and the blocks of those that no version needs can be given back to the file system: the file keeps its length and
/// becomes sparse. LMDB writes such pages before it reads them again.
extension LMDBEnvironment {
  private static let spaceQueue = DispatchQueue(label: "vivarium.lmdb.space", qos: .utility)
  /// How long writers are held up at a time.
  static let slice: Duration = .milliseconds(5)
  /// What a store may take beyond twice what it holds before space is given back by itself.
  private static let slackBytes = 4 << 20
  private static let watchSecondsMax = 4

  /// Gives back the blocks of all pages that no version needs: those freed by transactions up to the oldest that anybody
  /// reads. LMDB itself uses only older ones again, because a crash may put it back by one transaction; here that cannot be,
  /// as everything is on the disk. Holds the rights to write, ours and LMDB's, for a few milliseconds at a time.
  /// Returns the bytes that the file takes less on the disk. `slice`: how long holes are made before others may write.
  func reclaimSpace(_ deadline: Deadline, slice: Duration = LMDBEnvironment.slice) throws(StorageError) -> Int {
    try mark.check()
    let before = files.allocatedBytes
    var file: Int32 = -1
    defer { if file >= 0 { close(file) } }
    var next: UInt64? = 0
    while let from = next {
      guard let hold = try acquireWriter(deadline) else {
        throw StorageError(.readOnly, .statement, "'\(files.data)' was opened for reading alone.", remedy: "Open it for writing.")
      }
      defer { hold.release() }
      if file < 0 {
        var number: Int32 = 0
        file = cs_open(files.data, true, false, 0, &number)
        guard file >= 0 else { throw .system(number, .statement, doing: "open", path: files.data) }
      }
      clearDeadReaders()
      try checkSpare()
      // Everything is on the disk then, and no crash puts the store back to a version that needs the pages.
      try safePoints.prepare(self, .full, bytes: 0)
      next = try whileNobodyCommits { newest throws(StorageError) in try punch(file, from: from, slice, newest: newest) }
    }
    return max(0, before - files.allocatedBytes)
  }

  /// Runs `body` under LMDB's own right to write, with a read transaction of the newest version in the file: our right
  /// alone does not say so much, as a writer that was killed may have left a version that readers do not see yet. All of that
  /// version is on the disk.
  private func whileNobodyCommits<R>(_ body: (OpaquePointer) throws(StorageError) -> R) throws(StorageError) -> R {
    let transaction = try beginLMDBWrite(.statement).transaction
    defer { mdb_txn_abort(transaction) }
    // Whoever committed last may have been killed before the disk had it.
    let synced = mdb_env_sync(pointer, 1)
    guard synced == 0 else { throw .lmdb(synced, .statement, doing: "sync", path: files.data) }
    // LMDB shows its lists of free pages to readers alone.
    let newest = try beginRead()
    defer { endRead(newest) }
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    guard mdb_txn_id(newest) + 1 == mdb_txn_id(transaction), info.me_last_txnid == mdb_txn_id(newest) else {
      throw StorageError(
        .io, .statement, "'\(files.data)' was written by another program meanwhile.", remedy: "Try again.")
    }
    return try body(newest)
  }

  /// Starts giving space back when the file takes far more than it holds. Where readers of old versions hold the space, it is
  /// looked at again until they have let go: nobody may commit any more then.
  func giveBackSpaceIfDue() {
    switch space {
    case .tight: return
    case .due: beginReclaiming()
    case .held: watchSpace(after: 1)
    }
  }

  private func beginReclaiming() {
    guard !isReclaiming.exchange(true, ordering: .relaxed) else { return }
    LMDBEnvironment.spaceQueue.async { [weak self] in
      guard let self, !mark.isStale else { return }
      // What fails here is tried again some commits later.
      _ = try? reclaimSpace(.after(.seconds(2)))
      isReclaiming.store(false, ordering: .relaxed)
      if space == .held { watchSpace(after: 1) }
    }
  }

  /// Looks again after a while, and after twice that, up to some seconds: a look costs a walk over the lists of free pages.
  private func watchSpace(after seconds: Int) {
    guard !isWatchingSpace.exchange(true, ordering: .relaxed) else { return }
    LMDBEnvironment.spaceQueue.asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
      guard let self, !mark.isStale else { return }
      isWatchingSpace.store(false, ordering: .relaxed)
      clearDeadReaders()
      switch space {
      case .tight: return
      case .due: beginReclaiming()
      case .held: watchSpace(after: min(seconds * 2, LMDBEnvironment.watchSecondsMax))
      }
    }
  }

  /// Waits for what was begun so far. For tests.
  static func waitForSpace() { spaceQueue.sync {} }

  /// Throws where the lists of free pages are damaged: LMDB follows them wherever they lead. They are read with the first view.
  func checkSpare() throws(StorageError) {
    let (transaction, _) = try beginView()
    endRead(transaction)
    try pages.checkSpare()
  }

  private enum Space {
    /// The file takes about what it holds.
    case tight
    /// Much of it can be given back.
    case due
    /// Much of it could, but for readers of old versions.
    case held
  }

  private var space: Space {
    guard !isReadOnly, files.allocatedDataBytes > LMDBEnvironment.slackBytes, (try? checkSpare()) != nil,
      let transaction = try? beginRead()
    else { return .tight }
    defer { endRead(transaction) }
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    func isLarge(_ sparePages: Int) -> Bool {
      let needed = (Int(info.me_last_pgno) + 1 - sparePages) * pageSize
      return files.allocatedDataBytes > 2 * needed + LMDBEnvironment.slackBytes
    }
    guard isLarge(FreePages.count(transaction, through: nil)) else { return .tight }
    return isLarge(FreePages.count(transaction, through: oldestTransaction(transaction))) ? .due : .held
  }

  /// Punches free pages from page `from` on until the slice of time is over; where to go on, or nil at the end. `newest` reads
  /// the newest version, and nobody commits.
  ///
  /// One run of pages is dealt with however little time there is, and the slice begins after the walk over the lists: where the
  /// walk alone takes longer, on a slow machine, this would come back to the same page for ever.
  private func punch(
    _ file: Int32, from: UInt64, _ slice: Duration, newest: OpaquePointer
  ) throws(StorageError) -> UInt64? {
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    // Between the meta pages and the last page that was ever given out.
    let pages = 2..<max(2, UInt64(info.me_last_pgno) + 1)
    let runs = FreePages.runs(newest, through: oldestTransaction(newest), within: pages)
    let end = ContinuousClock.now + slice
    var hasBegun = false
    for run in runs where run.upperBound > from {
      if hasBegun, ContinuousClock.now > end { return run.lowerBound }
      hasBegun = true
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

  /// Runs of neighbouring pages that were freed by transactions up to `oldest`, ascending; what is not among `bounds` is no
  /// page of the file's.
  static func runs(_ transaction: OpaquePointer, through oldest: UInt64, within bounds: Range<UInt64>) -> [Range<UInt64>] {
    var pages: [UInt64] = []
    forEach(transaction, through: oldest) { list in
      for i in 0..<length(of: list) {
        let page = list.loadUnaligned(fromByteOffset: 8 + i * 8, as: UInt64.self)
        if bounds.contains(page) { pages.append(page) }
      }
    }
    pages.sort()
    var runs: [Range<UInt64>] = []
    for page in pages {
      if let last = runs.last, last.upperBound >= page {
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
