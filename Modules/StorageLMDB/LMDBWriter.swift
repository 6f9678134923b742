import CVivariumLMDB
import CVivariumSystem
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
import Synchronization

/// The right to write, while held. LMDB's own transaction lives within one call of `apply`, on one thread: committed on another
/// thread, it would return success and block every later writer forever.
final class LMDBWriter: KeyValueWriter {
  private let environment: LMDBEnvironment
  private let hold: WriterHold
  private let isEncrypted: Bool
  /// Written with the first entries of an encrypted file.
  private let mark: StoreMark?
  /// Written only by `end`, on the one thread that has the writer; that is the protocol's contract.
  nonisolated(unsafe) private var hasEnded = false

  init(_ environment: LMDBEnvironment, _ hold: WriterHold, isEncrypted: Bool) {
    (self.environment, self.hold, self.isEncrypted, mark) = (environment, hold, isEncrypted, nil)
  }

  /// For the first entries of an encrypted file.
  init(_ environment: LMDBEnvironment, _ hold: WriterHold, making mark: StoreMark) {
    (self.environment, self.hold, isEncrypted, self.mark) = (environment, hold, true, mark)
  }

  deinit { hold.release() }

  func end() {
    hasEnded = true
    hold.release()
  }

  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError) {
    try environment.mark.check()
    if hasEnded { throw .ended(environment.files.data) }
    let (version, byteCount) = (batch.version, batch.byteCount)
    try environment.checkInPlace()
    // Where the system's run has no number nothing is put back after a crash.
    let durability = SystemStart.current.isKnown ? durability : .full
    let (format, base) = try checkBase(batch)
    var journal: JournalCommit?
    if durability == .full, let plan = try environment.safePoints.journal(environment, bytes: byteCount, base: base) {
      journal = JournalCommit(plan, environment.safePoints, from: base, to: version)
    } else {
      try environment.safePoints.prepare(environment, durability, bytes: byteCount)
    }
    defer {
      if let journal {
        environment.safePoints.followJournal(environment, used: journal.used)
      } else if durability != .full {
        environment.safePoints.follow(environment, durability)
      }
    }
    makeRoom(for: batch.count, byteCount)
    let (transaction, handle) = try environment.beginLMDBWrite(.transaction)
    defer { environment.liftFloor() }
    let number = UInt(mdb_txn_id(transaction))
    do throws(StorageError) {
      try put(&batch, transaction, format, &journal)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    let isInJournal = journal?.write() ?? false
    if journal != nil, !isInJournal {
      do throws(StorageError) { try environment.safePoints.leaveJournal(environment, bytes: byteCount) } catch {
        mdb_txn_abort(transaction)
        try revoke(&journal)
        throw error
      }
      journal = nil
    }
    // Only the holder of the writer's lock commits, so nobody else reads or sets the flag now.
    mdb_env_set_flags(handle, UInt32(MDB_NOSYNC), durability == .full && !isInJournal ? 0 : 1)
    // Ends the transaction, successfully or not.
    let code = mdb_txn_commit(transaction)
    guard code == 0 else {
      try revoke(&journal)
      // Pages of earlier commits may be lost.
      if code == EIO, journal != nil { try environment.safePoints.fail(environment) }
      throw commitFailure(code, byteCount)
    }
    // A commit to files that nobody will find must not be acknowledged.
    try environment.checkInPlace()
    environment.remember(transaction: number, version: version)
    environment.hasStoreID.store(true, ordering: .relaxed)
    environment.bell.ringForCommit()
    environment.didCommit(byteCount)
  }

  // MARK: Private

  /// Takes back the record of a commit that did not come about.
  private func revoke(_ journal: inout JournalCommit?) throws(StorageError) {
    do throws(StorageError) { try journal?.revoke() } catch { try environment.safePoints.fail(environment) }
  }

  /// Ensures that the map has room for whatever a batch may need: values are released as they are put, so there is no second
  /// try. The bound is far above the need of most batches, and costs only address space; if there is none left, LMDB may
  /// succeed with less.
  private func makeRoom(for count: Int, _ byteCount: Int) {
    var (info, statistics) = (MDB_envinfo(), MDB_stat())
    mdb_env_info(environment.pointer, &info)
    mdb_env_stat(environment.pointer, &statistics)
    let page = Int(statistics.ms_psize)
    // Each entry may copy the pages on its path and split them, and a value has pages of its own. Add the lists of free pages,
    // eight bytes per page.
    let pagesOfEntry = 2 * Int(statistics.ms_depth) + 5
    let needed = Double(info.me_last_pgno + 2) * Double(page + 16) + Double(byteCount)
      + Double(count) * Double(pagesOfEntry) * Double(page) + Double(4 << 20)
    guard needed > Double(info.me_mapsize), let bytes = Int(exactly: needed.rounded(.up)) else { return }
    // Usually more than needed; if it does not fit in the end, LMDB reports that.
    try? environment.growMap(toHold: bytes)
  }

  /// Checks that the batch may follow the newest version, and verifies the pages that LMDB will access, because it trusts them.
  /// Returns the file's format, or the one it will get, and the newest version.
  private func checkBase(_ batch: borrowing KeyValueBatch) throws(StorageError) -> (format: UInt32, base: Version) {
    let (transaction, view) = try environment.beginView()
    defer { environment.endRead(transaction) }
    try environment.pages.checkSpare()
    let base = try environment.version(of: view)
    let version = batch.version
    // A store without commits is at version 0; its first entries may have that version.
    guard version > base || version == Version(0) else {
      throw StorageError(.misuse, .transaction, "A batch of \(version) cannot follow \(base).")
    }
    try view.prepare(nil)
    try withRecordKey { key throws(StorageError) in try view.prepare(key) }
    try StoreID.withKey { key throws(StorageError) in try view.prepare(key) }
    try batch.forEach { key, value throws(StorageError) in try view.prepare(key, deletes: value == nil) }
    let format = environment.pages.format ?? (isEncrypted ? StoreRecord.encryptedFormat : StoreRecord.currentFormat)
    // Somebody else may have written the first entries, since this process opened the file.
    guard StoreRecord.isEncrypted(format) == isEncrypted else {
      throw isEncrypted ? .notEncrypted(environment.files.data) : .missingKey(environment.files.data)
    }
    return (format, base)
  }

  /// Puts all entries. They come in key order, so past the last key of the file the rest is appended, which fills pages instead
  /// of splitting them. LMDB copies the values, so each is released once it is put.
  private func put(
    _ batch: inout KeyValueBatch, _ transaction: OpaquePointer, _ format: UInt32, _ journal: inout JournalCommit?
  ) throws(StorageError) {
    var cursor: OpaquePointer?
    let code = mdb_cursor_open(transaction, LMDBEnvironment.database, &cursor)
    guard code == 0, let cursor else { throw failure(code, "write to") }
    defer { mdb_cursor_close(cursor) }
    let last = LMDBWriter.lastKey(cursor)
    let seals = StoreRecord.isSealed(format)
    let record = StoreRecord(format: format, version: batch.version, transaction: UInt64(mdb_txn_id(transaction)))
    try putOwn(record, cursor, seals)
    var isPast = last.isEmpty
    try batch.drain { bytes, value throws(StorageError) in
      isPast = isPast || last.withUnsafeBytes { compareBytes(bytes, $0) > 0 }
      // Before the value goes: the record has how it differs.
      journal?.note(bytes, value?.bytes, isPast ? nil : transaction, isSealed: seals)
      var code: Int32 = 0
      if let value {
        code = LMDBWriter.put(bytes, value.bytes, cursor, isPast ? UInt32(MDB_APPEND) : 0, seals)
      } else if !isPast {
        var key = MDB_val(bytes)
        code = mdb_del(transaction, LMDBEnvironment.database, &key, nil)
        if code == MDB_NOTFOUND { code = 0 }
      }
      guard code == 0 else { throw failure(code, "write to") }
    }
  }

  /// Puts a value, with a checksum if the file's values have one.
  static func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ cursor: OpaquePointer, _ flags: UInt32, _ seals: Bool
  ) -> Int32 {
    var name = MDB_val(key)
    guard seals else {
      var data = MDB_val(value)
      return mdb_cursor_put(cursor, &name, &data, flags)
    }
    // LMDB reserves the space, and the value is written directly to it.
    var data = MDB_val(mv_size: value.count + Int(CS_SEAL), mv_data: nil)
    let code = mdb_cursor_put(cursor, &name, &data, flags | UInt32(MDB_RESERVE))
    if code == 0 { cs_seal(data.mv_data, key.baseAddress, key.count, value.baseAddress, value.count) }
    return code
  }

  /// Puts the store's record, and its id, which files of older builds get with their next commit.
  private func putOwn(_ record: StoreRecord, _ cursor: OpaquePointer, _ seals: Bool) throws(StorageError) {
    var code = withRecordKey { key in record.withBytes { LMDBWriter.put(key, $0, cursor, 0, seals) } }
    if code == 0, !environment.hasStoreID.load(ordering: .relaxed) {
      code = StoreID.withKey { key in
        StoreID.random().withBytes { LMDBWriter.put(key, $0, cursor, UInt32(MDB_NOOVERWRITE), seals) }
      }
      if code == MDB_KEYEXIST { code = 0 }
    }
    if code == 0, let mark {
      code = StoreMark.withKey { key in
        mark.bytes.withUnsafeBytes { LMDBWriter.put(key, $0, cursor, UInt32(MDB_NOOVERWRITE), seals) }
      }
    }
    guard code == 0 else { throw failure(code, "write to") }
  }

  /// A copy of the greatest key in the file; empty if there are no entries.
  private static func lastKey(_ cursor: OpaquePointer) -> [UInt8] {
    var key = MDB_val()
    var value = MDB_val()
    return mdb_cursor_get(cursor, &key, &value, MDB_LAST) == 0 ? Array(key.bytes) : []
  }

  private func commitFailure(_ code: Int32, _ byteCount: Int) -> StorageError {
    var error = failure(environment.files.isFull(code, for: byteCount) ? ENOSPC : code, "commit to")
    if isBeyondUse {
      error.scope = .engine
      error.remedy = "Close the store and open it again."
    }
    return error
  }

  /// After a failure in the last step of a commit, LMDB rejects everything until the file is opened again.
  private var isBeyondUse: Bool {
    var probe: OpaquePointer?
    let code = mdb_txn_begin(environment.pointer, nil, UInt32(MDB_RDONLY), &probe)
    if code == 0 { mdb_txn_abort(probe) }
    return code == MDB_PANIC
  }

  private func failure(_ code: Int32, _ doing: String) -> StorageError {
    .lmdb(code, code == MDB_PANIC ? .engine : .transaction, doing: doing, path: environment.files.data)
  }
}
