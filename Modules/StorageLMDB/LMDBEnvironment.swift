import CVivariumLMDB
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// The single open LMDB environment of a file in this process, with its side files.
///
/// Opening a file twice in a process breaks LMDB's protection of readers. So environments come from `LMDBEnvironment.open`,
/// which keeps a table of them, and an environment stays open until the last store, snapshot and writer on it is gone: memory
/// lent by a snapshot is never unmapped under its reader.
final class LMDBEnvironment: Sendable {
  /// The key-value pairs are in LMDB's unnamed database, which always has this number.
  static let database: MDB_dbi = 1
  private static let idleSnapshotsMax = 16
  static let viewTriesMax = 1_000
  /// A check costs about as much as a commit that is not synced.
  static let commitsBetweenChecks = 64
  static let bytesBetweenChecks = 16 << 20

  let files: LMDBFiles
  let isReadOnly: Bool
  let writerLock: FileWriterLock?
  let bell: FileDoorbell
  let mark = ForkMark()
  let safePoints = SafePoints()
  let pages: StorePages
  private let presence: StorePresence?
  let raw: RawEnvironment
  /// What holds versions for readers if they are not in LMDB's table.
  let pins: ReaderPins?
  /// What tells LMDB of readers outside of its table; made when there first is one.
  let floor = Mutex<ReaderFloor?>(nil)
  private let token: UInt64
  /// Read transactions that were reset and can be renewed in a few nanoseconds. They pin nothing.
  private let idle = Mutex<[IdleTransaction]>([])
  private let known = VersionCache()
  private let commits = Atomic<Int>(0)
  /// Whether the file is known to have a store id.
  let hasStoreID = Atomic(false)
  /// Opened by the first announcement.
  private let holders = Mutex<HolderTable?>(nil)
  /// The background was asked to check for space, and has not begun.
  let isCheckingSpace = Atomic(false)
  /// How often the lists of free pages were walked to find out whether space can be reclaimed. For tests.
  let spaceWalks = Atomic<Int>(0)
  /// A check for space that readers hold is scheduled.
  let isWatchingSpace = Atomic(false)
  private let bytesSinceCheck = Atomic<Int>(0)
  /// The second of the clock in which the data file was last found in its place.
  private let secondInPlace = Atomic<Int>(0)

  init(
    raw: RawEnvironment, token: UInt64, files: LMDBFiles, presence: StorePresence?, writerLock: FileWriterLock?,
    bell: FileDoorbell, pins: ReaderPins? = nil, map: MapBounds
  ) {
    self.raw = raw
    self.token = token
    self.files = files
    isReadOnly = raw.isReadOnly
    pages = StorePages(path: files.data, bytesMin: map.first ?? PageMap.bytesMin)
    self.presence = presence
    self.writerLock = writerLock
    self.bell = bell
    self.pins = pins
  }

  deinit {
    if mark.isStale { return }
    safePoints.finish(self)
    for transaction in idle.withLock({ $0 }) { mdb_txn_abort(transaction.pointer) }
    endFloor()
    LMDBEnvironment.table.letGo(of: raw, token)
  }

  /// LMDB's handle for new transactions. Valid while this object lives, even when there is a newer one.
  var pointer: OpaquePointer { raw.pointer }

  // MARK: Reading

  /// The version of the newest commit: one read of the map if it is cached.
  func latestVersion() throws(StorageError) -> Version {
    try mark.check()
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    if let version = known.version(of: UInt(info.me_last_txnid)) { return version }
    let (transaction, view) = try beginView()
    defer { endRead(transaction) }
    return try version(of: view)
  }

  /// The version of a view.
  func version(of view: LMDBView) throws(StorageError) -> Version {
    let number = UInt(view.number)
    if let version = known.version(of: number) { return version }
    switch try StoreRecord.find(in: view) {
    case .none: return Version(0)
    case .foreign:
      throw StorageError(
        .corrupt, .engine, "The record of the store '\(files.data)' is damaged.", remedy: "Restore the store from a copy.")
    case .found(let record):
      known.remember(number, record.version)
      return record.version
    }
  }

  func remember(transaction: UInt, version: Version) { known.remember(transaction, version) }

  /// The newest version, held by a read transaction that the caller passes to `endRead`.
  func beginView() throws(StorageError) -> (transaction: OpaquePointer, view: LMDBView) {
    for _ in 0..<LMDBEnvironment.viewTriesMax {
      let transaction = try beginRead()
      do throws(StorageError) {
        if let view = try pages.view(of: transaction) { return (transaction, view) }
      } catch {
        endRead(transaction)
        throw error
      }
      // Two commits came in between.
      endRead(transaction)
    }
    throw StorageError(
      .corrupt, .engine, "'\(files.data)' is damaged: neither of its first pages is of the version that readers are given.",
      remedy: "Close it everywhere and open it again; else restore it from a copy.")
  }

  /// A read transaction of the newest version, which `pins` do not hold yet.
  func beginUnpinned() throws(StorageError) -> OpaquePointer {
    while let transaction = idle.withLock({ $0.popLast() })?.pointer {
      let code = mdb_txn_renew(transaction)
      if code == 0 { return transaction }
      mdb_txn_abort(transaction)
      // It belonged to a map that the file has outgrown.
      if code == MDB_MAP_RESIZED { continue }
      throw .lmdb(code, .statement, doing: "begin a snapshot of", path: files.data)
    }
    return try beginNew()
  }

  /// A newly allocated read transaction of the newest version. Frees places in a full table of readers, and enlarges the map if
  /// another process has made the file outgrow it. The caller aborts it.
  func beginNew(_ scope: StorageError.Scope = .statement) throws(StorageError) -> OpaquePointer {
    var hasMadeRoom = false
    while true {
      var transaction: OpaquePointer?
      let handle = pointer
      let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
      if code == 0, let transaction { return transaction }
      if code == MDB_READERS_FULL, !hasMadeRoom, makeRoomForReaders() {
        hasMadeRoom = true
      } else if code == MDB_MAP_RESIZED {
        try growMap(from: handle)
      } else {
        throw .lmdb(code, scope, doing: "begin a snapshot of", path: files.data)
      }
    }
  }

  /// LMDB's own right to write, with a transaction on the newest version. Only for the holder of our right, who ends it on this
  /// thread and then calls `liftFloor`. `handle` is the handle it was begun on.
  func beginLMDBWrite(_ scope: StorageError.Scope) throws(StorageError) -> (transaction: OpaquePointer, handle: OpaquePointer) {
    try lowerFloor(scope)
    do throws(StorageError) {
      while true {
        var transaction: OpaquePointer?
        let handle = pointer
        let code = mdb_txn_begin(handle, nil, 0, &transaction)
        if code == 0, let transaction { return (transaction, handle) }
        guard code == MDB_MAP_RESIZED else {
          throw .lmdb(code, code == MDB_PANIC ? .engine : scope, doing: "begin a write to", path: files.data)
        }
        try growMap(from: handle)
      }
    } catch {
      liftFloor()
      throw error
    }
  }

  /// Enlarges the map, because the file has outgrown that of `handle`.
  private func growMap(from handle: OpaquePointer) throws(StorageError) {
    // Another thread has already done so.
    if handle != pointer { return }
    var (info, statistics) = (MDB_envinfo(), MDB_stat())
    mdb_env_info(handle, &info)
    mdb_env_stat(handle, &statistics)
    let (needed, isTooMuch) = (info.me_last_pgno + 2).multipliedReportingOverflow(by: Int(statistics.ms_psize))
    if isTooMuch { throw .lmdb(MDB_MAP_RESIZED, .statement, doing: "map", path: files.data) }
    try growMap(toHold: max(needed, Int(clamping: info.me_mapsize) + 1))
  }

  /// Ensures that new transactions have a map of at least `bytes` bytes.
  func growMap(toHold bytes: Int) throws(StorageError) {
    // Idle transactions would keep using the smaller map. They end first: a new map needs a place in the table of readers for a moment,
    // and LMDB's handle that finds none would, when closed, take back the process's locks.
    let old = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
    for transaction in old { mdb_txn_abort(transaction.pointer) }
    try raw.grow(toHold: bytes)
  }

  /// What LMDB has ever used of the file, in bytes.
  var usedBytes: Int {
    var (info, statistics) = (MDB_envinfo(), MDB_stat())
    mdb_env_info(pointer, &info)
    mdb_env_stat(pointer, &statistics)
    return Int(clamping: info.me_last_pgno &+ 1).multipliedReportingOverflow(by: Int(statistics.ms_psize)).partialValue
  }

  /// The number of the process's maps of the file, and the size of the newest in bytes; for tests.
  var maps: (count: Int, bytes: Int) { (raw.mapCount, raw.mapSize) }

  /// Releases the version. Does nothing in a forked child: the place in the table of readers is the parent's.
  func endRead(_ transaction: OpaquePointer) {
    if mark.isStale { return }
    let number = LMDBEnvironment.number(of: transaction)
    mdb_txn_reset(transaction)
    pins?.letGo(number)
    let isOfNewestMap = mdb_txn_env(transaction) == pointer
    let isKept = idle.withLock { idle in
      guard isOfNewestMap, idle.count < LMDBEnvironment.idleSnapshotsMax else { return false }
      idle.append(IdleTransaction(pointer: transaction))
      return true
    }
    if !isKept { mdb_txn_abort(transaction) }
  }

  /// Frees places in the table of readers: those of dead processes, and of ended snapshots that were kept for reuse here.
  /// Returns whether there were any.
  private func makeRoomForReaders() -> Bool {
    let ended = idle.withLock { idle in
      defer { idle = [] }
      return idle
    }
    for transaction in ended { mdb_txn_abort(transaction.pointer) }
    return clearDeadReaders() > 0 || !ended.isEmpty
  }

  /// The right to write, after repairing what a dead holder has left; nil if the environment is read-only. A read begun while
  /// holding it is of the newest version.
  func acquireWriter(_ deadline: Deadline) throws(StorageError) -> WriterHold? {
    guard let hold = try writerLock?.acquire(deadline) else { return nil }
    do throws(StorageError) {
      let isUntold = try isNewestUntold()
      if hold.followsDeath || isUntold {
        try finishDeadCommit()
        try safePoints.voidLost(self)
        // The dead writer may have committed without ringing, and its snapshots still hold their versions.
        clearDeadReaders()
        bell.ring()
      }
      return hold
    } catch {
      // What is not repaired must not be forgotten.
      hold.abandon()
      throw error
    }
  }

  /// Throws `.replaced` if the name of a file of the store leads to another file now, so that nobody who opens the store from
  /// now on would see further writes.
  func checkInPlace() throws(StorageError) {
    if !raw.isInPlace || writerLock?.isInPlace == false { throw .replaced(files.data) }
  }

  /// The same for who begins to read, of the data file alone: nobody commits to a file that nobody finds, so what is read of it would
  /// stay as it is for ever. Looks at most once in a second of the clock, which may run backwards, until the file is gone.
  func checkFound() throws(StorageError) {
    let second = time(nil)
    if secondInPlace.load(ordering: .relaxed) == second { return }
    if isDataGone { throw .replaced(files.data) }
    secondInPlace.store(second, ordering: .relaxed)
  }

  /// Whether the data file's name leads to nothing, or to another file. Who may not look any more, as a process that gave up rights, is
  /// not told so: it knows nothing of the file that has changed.
  private var isDataGone: Bool {
    var file: Int32 = -1
    guard mdb_env_get_fd(pointer, &file) == 0, let opened = FileIdentity(descriptor: file) else { return false }
    var info = stat()
    if stat(files.data, &info) == 0 { return FileIdentity(info) != opened }
    return errno == ENOENT || errno == ENOTDIR
  }

  /// Whether the file has a newer version than readers see: a writer was killed between the two steps of LMDB's commit, writing
  /// the meta page and publishing its number in the table of readers. Requires that nobody writes.
  private func isNewestUntold() throws(StorageError) -> Bool {
    let transaction = try beginRead()
    defer { endRead(transaction) }
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    return info.me_last_txnid != mdb_txn_id(transaction)
  }

  /// LMDB publishes the newest version when its own right to write is acquired after a holder's death.
  private func finishDeadCommit() throws(StorageError) {
    mdb_txn_abort(try beginLMDBWrite(.statement).transaction)
    liftFloor()
  }

  /// Call after each commit of this process. Now and then, by count or by bytes, it checks for dead readers, which would keep
  /// the file growing, and whether the file has grown far beyond its contents.
  func didCommit(_ bytes: Int) {
    let isMuch = bytesSinceCheck.wrappingAdd(bytes, ordering: .relaxed).newValue > LMDBEnvironment.bytesBetweenChecks
    let isCounted = commits.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: LMDBEnvironment.commitsBetweenChecks)
    guard isMuch || isCounted else { return }
    bytesSinceCheck.store(0, ordering: .relaxed)
    clearDeadReaders()
    giveBackSpaceIfDue()
  }

  /// Publishes the holder of a version to all processes.
  func announce(_ version: Version, label: String) -> (any VersionAnnouncement)? {
    guard !isReadOnly, !mark.isStale else { return nil }
    let table = holders.withLock { table in
      table = table ?? (try? HolderTable(path: files.coordination, mode: files.sideMode))
      return table
    }
    return table?.announce(version, label: label)
  }

  /// Frees the places, and so the versions, of readers whose process is dead. Returns their number.
  @discardableResult func clearDeadReaders() -> Int {
    var count: Int32 = 0
    mdb_reader_check(pointer, &count)
    return Int(count)
  }
}

/// A reset read transaction, kept for the next reader.
private struct IdleTransaction: Sendable {
  /// Safe to hand over: without thread-local readers LMDB allows any one thread to use it, and the list that holds it gives it
  /// to one.
  nonisolated(unsafe) let pointer: OpaquePointer
}
