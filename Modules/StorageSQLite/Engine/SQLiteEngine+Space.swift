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

extension SQLiteEngine: SpaceReclaiming {
  /// Rewrites the file without its free pages (`VACUUM`) and moves the result from the log into the main file. Takes as long as
  /// writing the file; an encrypted one is in memory meanwhile. Writers wait throughout, readers continue. While a reader holds
  /// an old version, the main file keeps its length until a later checkpoint.
  public func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int {
    let before = mainFileBytes
    let write = try beginWrite(deadline)
    defer { write.end() }
    guard let write = write as? SQLiteWriteTransaction else { return 0 }
    // Foreign writes are in the history now; we keep the right to write.
    try write.connection.run(StatementKey(.rollback), "ROLLBACK")
    // A separate connection: the others keep temporary data in memory, and this is the whole file.
    let connection = try Connection.ours(file, isReadOnly: false)
    try connection.vacuum()
    checkpointer.checkpointNow()
    return max(0, before - mainFileBytes)
  }

  private var mainFileBytes: Int {
    var info = stat()
    return stat(file.path, &info) == 0 ? Int(info.st_blocks) * 512 : 0
  }
}

extension Connection {
  /// Rewrites the file without its free pages. The copy of it is in a temporary file, or in memory if the file is encrypted: such data
  /// must not reach the disk unencrypted. Not for a connection that is in a transaction.
  func vacuum() throws(StorageError) {
    guard seal == nil else { return try execute("PRAGMA temp_store = MEMORY; VACUUM") }
    // What is copied back goes to the log once the cache is full, with any SQLite: it would be the whole file. A log is spoilt by the
    // rollback to a savepoint, and here is none: a VACUUM that fails is undone as a whole.
    if Connection.losesSpilledWrites { try execute("PRAGMA cache_spill = ON") }
    defer { if Connection.losesSpilledWrites { try? execute("PRAGMA cache_spill = OFF") } }
    try execute("PRAGMA temp_store = FILE; VACUUM")
  }
}

extension SQLiteEngine: VersionAnnouncing {
  public func announce(_ version: Version, label: String) -> (any VersionAnnouncement)? {
    guard lock != nil, !mark.isStale else { return nil }
    let table = holders.withLock { table in
      table = table ?? (try? HolderTable(path: file.coordinationPath, mode: file.sideMode))
      return table
    }
    return table?.announce(version, label: label)
  }
}
