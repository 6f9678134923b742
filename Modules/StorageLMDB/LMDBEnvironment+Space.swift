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

/// LMDB never shrinks its file. Unused pages are in lists of free pages, each with the transaction that freed them. The blocks
/// of those that no version needs can be returned to the file system: the file keeps its length and becomes sparse. LMDB writes
/// such pages before it reads them again.
extension LMDBEnvironment {
  static let spaceQueue = DispatchQueue(label: "vivarium.lmdb.space", qos: .utility)
  /// How long writers are held up at a time.
  static let slice: Duration = .milliseconds(5)
  /// How far a store may exceed twice its contents before space is reclaimed automatically.
  private static let slackBytes = 4 << 20
  private static let watchSecondsMax = 4

  /// Returns the blocks of all pages that no version needs: those freed by transactions up to the oldest one being read. LMDB
  /// itself reuses only older ones, because a crash may revert it by one transaction; that cannot happen here, because
  /// everything is synced. Holds the rights to write, ours and LMDB's, for a few milliseconds at a time. Returns by how many
  /// bytes the file's disk usage shrank. `slice`: how long holes are punched before others may write.
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
      // Everything is synced then, and no crash reverts the store to a version that needs the pages.
      try safePoints.prepare(self, .full, bytes: 0)
      next = try whileNobodyCommits { newest throws(StorageError) in try punch(file, from: from, slice, newest: newest) }
    }
    return max(0, before - files.allocatedBytes)
  }

  /// Runs `body` with LMDB's own right to write and a read transaction of the newest version in the file. Our right alone does
  /// not suffice, because a killed writer may have left a version that readers do not see yet. All of that version is synced.
  private func whileNobodyCommits<R>(_ body: (OpaquePointer) throws(StorageError) -> R) throws(StorageError) -> R {
    let transaction = try beginLMDBWrite(.statement).transaction
    defer {
      mdb_txn_abort(transaction)
      liftFloor()
    }
    // The last writer may have been killed before its commit was synced.
    let synced = mdb_env_sync(pointer, 1)
    guard synced == 0 else { throw .lmdb(synced, .statement, doing: "sync", path: files.data) }
    // LMDB shows its lists of free pages only to readers.
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

  /// Has the background check whether the file is far larger than its contents, and reclaim space if so. The caller, often a
  /// writer, does not pay for the walk over the lists of free pages. If readers of old versions hold the space, it is checked
  /// again until they have ended, because no commit may follow that would do it.
  ///
  /// A small file is not looked at. So the background does not hold its environment, and a small store is closed, with its safe
  /// point disarmed, when its last user lets go of it.
  func giveBackSpaceIfDue() {
    guard !isReadOnly, isLarge, !isCheckingSpace.exchange(true, ordering: .relaxed) else { return }
    LMDBEnvironment.spaceQueue.async { [weak self] in
      guard let self, !mark.isStale else { return }
      isCheckingSpace.store(false, ordering: .relaxed)
      checkSpace(watchingAfter: 1)
    }
  }

  /// Checks again after a delay that doubles up to some seconds.
  private func watchSpace(after seconds: Int) {
    guard !isWatchingSpace.exchange(true, ordering: .relaxed) else { return }
    LMDBEnvironment.spaceQueue.asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
      guard let self, !mark.isStale else { return }
      isWatchingSpace.store(false, ordering: .relaxed)
      clearDeadReaders()
      checkSpace(watchingAfter: min(seconds * 2, LMDBEnvironment.watchSecondsMax))
    }
  }

  /// On the queue.
  private func checkSpace(watchingAfter seconds: Int) {
    switch space {
    case .tight: return
    case .held: watchSpace(after: seconds)
    case .due:
      // A failure is retried some commits later.
      _ = try? reclaimSpace(.after(.seconds(2)))
      if space == .held { watchSpace(after: 1) }
    }
  }

  /// Waits for running background work, which holds environments open meanwhile.
  static func waitForBackground() {
    // In a forked child there is none, and the queues may be stuck in the state that they had in the parent.
    if table.isForked { return }
    SafePoints.waitForBackground()
    spaceQueue.sync {}
  }

  /// Runs `body` while the background does nothing. For tests.
  static func whileSpaceWaits<R>(_ body: () throws -> R) rethrows -> R { try spaceQueue.sync(execute: body) }

  /// Throws if the lists of free pages are damaged, because LMDB follows them unchecked. They are read with the first view.
  func checkSpare() throws(StorageError) {
    let (transaction, _) = try beginView()
    endRead(transaction)
    try pages.checkSpare()
  }

  private enum Space {
    /// The file takes about as much as its contents.
    case tight
    /// Much of it can be reclaimed.
    case due
    /// Much of it could be reclaimed, but for readers of old versions.
    case held
  }

  /// Whether the file takes enough of the disk that it is worth a look.
  private var isLarge: Bool { files.allocatedDataBytes > LMDBEnvironment.slackBytes }

  private var space: Space {
    guard !isReadOnly, isLarge, (try? checkSpare()) != nil, let transaction = try? beginRead()
    else { return .tight }
    defer { endRead(transaction) }
    spaceWalks.add(1, ordering: .relaxed)
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    func isMostlySpare(_ sparePages: Int) -> Bool {
      let needed = (Int(info.me_last_pgno) + 1 - sparePages) * pageSize
      return files.allocatedDataBytes > 2 * needed + LMDBEnvironment.slackBytes
    }
    guard isMostlySpare(FreePages.count(transaction, through: nil)) else { return .tight }
    return isMostlySpare(FreePages.count(transaction, through: oldestTransaction(transaction))) ? .due : .held
  }

  /// Punches free pages from page `from` on until the time slice is over; returns where to continue, or nil at the end.
  /// `newest` reads the newest version, and nobody commits.
  ///
  /// Processes at least one run of pages, however little time there is, and the slice begins after the walk over the lists.
  /// Otherwise, if the walk alone takes longer, on a slow machine, this would return to the same page forever.
  private func punch(
    _ file: Int32, from: UInt64, _ slice: Duration, newest: OpaquePointer
  ) throws(StorageError) -> UInt64? {
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    // Between the meta pages and the last page ever allocated.
    let pages = 2..<max(2, UInt64(info.me_last_pgno) + 1)
    let runs = FreePages.runs(newest, through: oldestTransaction(newest), within: pages)
    let end = ContinuousClock.now + slice
    var hasBegun = false
    for run in runs where run.upperBound > from {
      if hasBegun, ContinuousClock.now > end { return run.lowerBound }
      hasBegun = true
      let start = Int64(run.lowerBound) * Int64(pageSize)
      let length = Int64(run.count) * Int64(pageSize)
      // Already a hole.
      if cs_data_from(file, start) >= start + length { continue }
      let number = cs_punch(file, start, length)
      if number == 0 { continue }
      // The file system does not support holes, so the store keeps the space.
      if number == EOPNOTSUPP || number == ENOSYS { return nil }
      throw .system(number, .statement, doing: "give back space of", path: files.data)
    }
    return nil
  }

  /// The oldest transaction being read, this read transaction included.
  private func oldestTransaction(_ transaction: OpaquePointer) -> UInt64 {
    let own = UInt64(mdb_txn_id(transaction))
    return (LMDBStore.readers(self) + outsideReaders).compactMap(\.transaction).reduce(own, min)
  }

  private var pageSize: Int {
    var statistics = MDB_stat()
    mdb_env_stat(pointer, &statistics)
    return Int(statistics.ms_psize)
  }
}

/// LMDB's lists of free pages: under the number of the transaction that freed them, a count and that many page numbers.
enum FreePages {
  /// How many there are, freed by transactions up to `oldest`; nil: by any.
  static func count(_ transaction: OpaquePointer, through oldest: UInt64?) -> Int {
    var pages = 0
    forEach(transaction, through: oldest) { pages += length(of: $0) }
    return pages
  }

  /// Runs of adjacent pages freed by transactions up to `oldest`, ascending. Page numbers outside `bounds` are invalid and
  /// ignored.
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

  /// The number of pages in a list; its own count, limited by its length.
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
