import CVivariumLMDB
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import Synchronization

/// Readers outside of LMDB's table and writers, beside each other.
///
/// LMDB's write n takes pages that were freed by transactions before the oldest one that is read, and before n − 1. So what the newest
/// version needs is not taken by the write that is going on, nor by the next one. A reader that has locked a version and then finds it
/// to be the newest is therefore in time: each write that begins later sees the lock.
extension LMDBEnvironment {
  /// A read transaction of the newest version. The caller passes it to `endRead`.
  func beginRead() throws(StorageError) -> OpaquePointer {
    try mark.check()
    guard let pins else { return try beginUnpinned() }
    for _ in 0..<LMDBEnvironment.viewTriesMax {
      let transaction = try beginUnpinned()
      let number = LMDBEnvironment.number(of: transaction)
      do throws(StorageError) {
        try pins.hold(number)
      } catch {
        mdb_txn_abort(transaction)
        throw error
      }
      // Begun again, because LMDB may have copied a meta page that was just being written.
      mdb_txn_reset(transaction)
      let code = mdb_txn_renew(transaction)
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      let newest = newestTransaction(mdb_txn_env(transaction))
      if code == 0, LMDBEnvironment.number(of: transaction) == number, newest == number { return transaction }
      pins.letGo(number)
      mdb_txn_abort(transaction)
    }
    throw StorageError(
      .io, .statement, "'\(files.data)' is written too fast to begin reading one of its versions.", remedy: "Try again.")
  }

  /// Has LMDB keep what readers outside of its table hold, until `liftFloor`. Call with the right to write before each of LMDB's own,
  /// because a reader may have come since the one before.
  func lowerFloor(_ scope: StorageError.Scope) throws(StorageError) {
    var file: Int32 = -1
    mdb_env_get_fd(pointer, &file)
    guard let oldest = ReaderPins.oldest(file) else { return }
    let newest = newestTransaction(pointer)
    // LMDB takes a commit back if its last step fails, and somebody may have seen it: its pages are free, and are being read.
    if ReaderPins.isHeld(file, from: newest &+ 1) {
      throw StorageError(
        .alreadyOpen, scope, "A version of '\(files.data)' is read whose commit has failed.",
        remedy: "Close the store in the processes that read it.")
    }
    if oldest >= newest { return }
    try floor.withLock { floor throws(StorageError) in
      let made: ReaderFloor
      if let known = floor { made = known } else { made = try makeFloor(scope) }
      floor = made
      made.lower(to: oldest)
    }
  }

  /// Call after LMDB's write has ended.
  func liftFloor() { floor.withLock { $0?.lift() } }

  /// Call before LMDB's handles are closed.
  func endFloor() {
    floor.withLock { floor in
      floor?.end()
      floor = nil
    }
  }

  private func makeFloor(_ scope: StorageError.Scope) throws(StorageError) -> ReaderFloor {
    let table = try raw.readerTable()
    let transaction = try beginNew(scope)
    if let made = ReaderFloor(transaction, in: table) { return made }
    mdb_txn_abort(transaction)
    throw StorageError(
      .alreadyOpen, scope, "'\(files.data)' is read by a process that may not write its lock file.",
      remedy: "Let that process close it, or let its user write the lock file.")
  }

  /// The readers outside of the table: this process's, and of others one for each version, with 0 for the process.
  var outsideReaders: [LMDBStore.Reader] {
    var file: Int32 = -1
    if let pins { file = pins.descriptor } else { mdb_env_get_fd(pointer, &file) }
    return ReaderPins.held(file).map { LMDBStore.Reader(process: 0, transaction: $0) }
      + (pins?.own ?? []).map { LMDBStore.Reader(process: getpid(), transaction: $0) }
  }

  private func newestTransaction(_ handle: OpaquePointer?) -> UInt64 {
    var info = MDB_envinfo()
    mdb_env_info(handle, &info)
    return UInt64(truncatingIfNeeded: info.me_last_txnid)
  }

  static func number(of transaction: OpaquePointer) -> UInt64 { UInt64(truncatingIfNeeded: mdb_txn_id(transaction)) }
}
