import CVivariumLMDB
import StorageCoordination
import StorageInterface
import Synchronization

/// LMDB's handles of an open file: one, until the file outgrows its map. Then a second one with a larger map is opened beside
/// it for all new transactions; existing readers continue on the first. Only `EnvironmentTable` closes them, all at once:
/// closing one would drop the LMDB locks of the others, which belong to the process.
final class RawEnvironment: Sendable {
  /// The first process to open the store decides for all, until the last has closed.
  static let readersMax: UInt32 = 4096
  static let mapSizeMin = 1 << 26
  static let noAddressSpace: Int32 = 12  // ENOMEM, on all systems

  private struct State {
    /// Oldest first.
    var handles: [Handle] = []
    /// Keeps other handles of this process from clearing the table of readers.
    var tableGuard: TableGuard?
    /// Mapped by whoever needs a line in it first.
    var readerTable: ReaderTable?
    /// The opened files; nil without a table of readers.
    var identities: Identities?
  }

  /// The identities of the data file and LMDB's lock file when they were opened.
  struct Identities: Sendable {
    var data: FileIdentity
    var lock: FileIdentity
  }

  let files: LMDBFiles
  let isReadOnly: Bool
  let isLockless: Bool
  private let mode: UInt32
  private let mapSizeMax: Int
  private let current: Atomic<UInt>
  private let state: Mutex<State>

  /// Opens the environment with a map of `mapSize` bytes, or as much as the address space allows.
  init(
    files: LMDBFiles, isReadOnly: Bool, isLockless: Bool, mapSize: Int, mapSizeMax: Int = .max, mode: UInt32
  ) throws(StorageError) {
    // LMDB follows and overwrites whatever it finds there.
    if !isLockless { try files.checkLockFile() }
    (self.files, self.isReadOnly, self.isLockless, self.mode) = (files, isReadOnly, isLockless, mode)
    self.mapSizeMax = mapSizeMax
    var size = mapSize
    while true {
      do throws(StorageError) {
        let handle = try Handle(files, isReadOnly: isReadOnly, isLockless: isLockless, mapSize: size, mode)
        current = Atomic(UInt(bitPattern: handle.pointer))
        state = Mutex(State(handles: [handle]))
        AddressSpace.opened()
        return
      } catch {
        let isTooMuch = error.underlyingCode == RawEnvironment.noAddressSpace && size / 2 >= RawEnvironment.mapSizeMin
        // Another process made the file grow at this moment.
        guard isTooMuch || error.underlyingCode == MDB_MAP_RESIZED else { throw error }
        if isTooMuch { size /= 2 }
      }
    }
  }

  /// The handle for new transactions. Safe from any thread.
  var pointer: OpaquePointer {
    // Never 0: it comes from the pointer of a handle.
    OpaquePointer(bitPattern: current.load(ordering: .acquiring)).unsafelyUnwrapped
  }

  /// The number of maps; for tests.
  var mapCount: Int { state.withLock { $0.handles.count } }

  /// The size of the map for new transactions, in bytes.
  var mapSize: Int { RawEnvironment.mapSize(of: pointer) }

  static func mapSize(of handle: OpaquePointer) -> Int {
    var info = MDB_envinfo()
    mdb_env_info(handle, &info)
    return Int(clamping: info.me_mapsize)
  }

  /// Ensures that new transactions have a map of at least `bytes`. `.addressSpace` if there is no room.
  func grow(toHold bytes: Int) throws(StorageError) {
    try state.withLock { state throws(StorageError) in
      let now = mapSize
      if bytes <= now { return }
      guard bytes <= mapSizeMax else { throw noRoom }
      if !isLockless {
        // Kept even if a later step fails.
        let tableGuard: TableGuard
        if let made = state.tableGuard { tableGuard = made } else { tableGuard = try TableGuard(files) }
        state.tableGuard = tableGuard
        try tableGuard.hold(files)
      }
      // Four times the size, so that a file has few maps however large it becomes; less if there is not enough room.
      var size = min(mapSizeMax, max(bytes.multipliedReportingOverflow(by: 2).partialValue, now * 4, bytes))
      while !AddressSpace.hasRoom(size) {
        guard size > bytes else { throw noRoom }
        size = max(bytes, size / 2)
      }
      try AddressSpace.checkDescriptors(files.data)
      let handle = try Handle(files, isReadOnly: isReadOnly, isLockless: isLockless, mapSize: size, mode)
      state.handles.append(handle)
      current.store(UInt(bitPattern: handle.pointer), ordering: .releasing)
    }
  }

  /// LMDB's table of readers, in a map of our own that stays until the handles are closed.
  func readerTable() throws(StorageError) -> ReaderTable {
    try state.withLock { state throws(StorageError) in
      if let made = state.readerTable { return made }
      let made = try ReaderTable(files)
      state.readerTable = made
      return made
    }
  }

  private var noRoom: StorageError {
    StorageError(
      .addressSpace, .transaction, "There is no address space to map a larger '\(files.data)'.",
      remedy: "Close other stores, or run with more memory.")
  }

  /// Claims the file with its table of readers. `.replaced` if somebody has it open with another table.
  func claimTable() throws(StorageError) {
    var file: Int32 = -1
    mdb_env_get_fd(pointer, &file)
    guard let data = FileIdentity(descriptor: file), let lock = FileIdentity(path: files.lock),
      FileClaim.take(file, for: lock), data == FileIdentity(path: files.data)
    else { throw .replaced(files.data) }
    state.withLock { $0.identities = Identities(data: data, lock: lock) }
  }

  /// Whether the names of both files still lead to them: a few microseconds.
  var isInPlace: Bool {
    guard let known = state.withLock({ $0.identities }) else { return true }
    return FileIdentity(path: files.data) == known.data && FileIdentity(path: files.lock) == known.lock
  }

  func close() {
    AddressSpace.closed()
    state.withLock { state in
      if state.identities != nil, let first = state.handles.first {
        var file: Int32 = -1
        if mdb_env_get_fd(first.pointer, &file) == 0 { FileClaim.letGo(file) }
      }
      for handle in state.handles { handle.close() }
      state.readerTable?.end()
      state = State()
    }
  }
}

/// One LMDB handle.
struct Handle: Sendable {
  // `nonisolated(unsafe)` is sound because the pointer is a constant, set once by `init` and never from a file's contents, and
  // everything called with it from several threads (beginning transactions, reading sizes) LMDB allows on any thread at any
  // time. It dangles only after `close`, which `RawEnvironment` calls when the last transaction of the environment has ended.
  nonisolated(unsafe) let pointer: OpaquePointer

  init(
    _ files: LMDBFiles, isReadOnly: Bool, isLockless: Bool, mapSize: Int, _ mode: UInt32
  ) throws(StorageError) {
    var handle: OpaquePointer?
    var code = mdb_env_create(&handle)
    guard code == 0, let handle else { throw .lmdb(code, .engine, doing: "prepare to open", path: files.data) }
    code = mdb_env_set_maxreaders(handle, RawEnvironment.readersMax)
    if code == 0 { code = mdb_env_set_mapsize(handle, mapSize) }
    if code == 0 {
      // Memory is cleared before it is written (no MDB_NOMEMINIT): otherwise contents of the process's memory would end up in
      // the gaps of the file.
      var flags = UInt32(MDB_NOTLS | MDB_NOSUBDIR)
      if isReadOnly { flags |= UInt32(MDB_RDONLY) }
      if isLockless { flags |= UInt32(MDB_NOLOCK) }
      code = mdb_env_open(handle, files.data, flags, mode_t(mode))
    }
    if code == 0 { code = Handle.openDatabase(handle) }
    guard code == 0 else {
      mdb_env_close(handle)
      throw .lmdb(code, .engine, doing: "open", path: files.data)
    }
    pointer = handle
  }

  func close() { mdb_env_close(pointer) }

  /// Makes the unnamed database usable in all later transactions: LMDB sets its key order here.
  private static func openDatabase(_ handle: OpaquePointer) -> Int32 {
    var transaction: OpaquePointer?
    var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    if code == MDB_READERS_FULL {
      var count: Int32 = 0
      mdb_reader_check(handle, &count)
      code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    }
    guard code == 0 else { return code }
    var database: MDB_dbi = 0
    code = mdb_dbi_open(transaction, nil, 0, &database)
    mdb_txn_abort(transaction)
    return code
  }
}
