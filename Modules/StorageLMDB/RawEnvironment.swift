import CLMDB
import Storage

/// LMDB's handle of an open file. Closed by `EnvironmentTable` and nobody else.
final class RawEnvironment: Sendable {
  /// Who decides first decides for all processes, until the last has closed.
  private static let readersMax: UInt32 = 4096
  /// Address space, not memory or disk: the map cannot grow while there are readers.
  static let mapSize = 1 << 40
  static let mapSizeMin = 1 << 26

  /// Safe to share: LMDB's environment functions that we use are safe from any thread, and the pointer is set
  /// once.
  nonisolated(unsafe) let pointer: OpaquePointer
  let isReadOnly: Bool

  /// Opens the environment, with the largest map that the address space has room for, from `mapSize` down.
  init(
    files: LMDBFiles, isReadOnly: Bool, isLockless: Bool, mapSize: Int, mode: UInt32
  ) throws(StorageError) {
    self.isReadOnly = isReadOnly
    // LMDB follows what it finds there and writes over it.
    if !isLockless { try files.checkLockFile() }
    var size = mapSize
    while true {
      var handle: OpaquePointer?
      var code = mdb_env_create(&handle)
      guard code == 0, let handle else {
        throw .lmdb(code, .engine, doing: "prepare to open", path: files.data)
      }
      code = mdb_env_set_maxreaders(handle, RawEnvironment.readersMax)
      if code == 0 { code = mdb_env_set_mapsize(handle, size) }
      if code == 0 {
        // Memory is cleared before it is written (no MDB_NOMEMINIT): else bits of the process's memory would
        // end in the gaps of the file.
        var flags = UInt32(MDB_NOTLS | MDB_NOSUBDIR)
        if isReadOnly { flags |= UInt32(MDB_RDONLY) }
        if isLockless { flags |= UInt32(MDB_NOLOCK) }
        code = mdb_env_open(handle, files.data, flags, mode_t(mode))
      }
      if code == 0 { code = RawEnvironment.openDatabase(handle) }
      if code == 0 {
        pointer = handle
        return
      }
      mdb_env_close(handle)
      guard code == RawEnvironment.noAddressSpace, size / 2 >= RawEnvironment.mapSizeMin else {
        throw .lmdb(code, .engine, doing: "open", path: files.data)
      }
      size /= 2
    }
  }

  /// Makes the unnamed database usable in all transactions to come: LMDB settles its key order here.
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

  private static let noAddressSpace: Int32 = 12  // ENOMEM, on all systems

  func close() { mdb_env_close(pointer) }
}
