import CVivariumLMDB
import CVivariumSystem
import ColumnStore
import StorageInterface
import StoreValues

// Making commits again after a crash of the system.

extension SafePointFile {
  /// Makes the commits again that the journal has since a point, to which the file was put back just now.
  ///
  /// In one transaction of LMDB, the first since the point: it takes only pages that are free in the point's version, so another crash
  /// finds the point whole, and begins anew. `.corrupt` if a record is whole and does not fit the file.
  func replay(_ point: SafePoint, into files: LMDBFiles, mode: UInt32) throws(StorageError) {
    let records = try records(since: point)
    if records.isEmpty { return }
    let raw = try RawEnvironment(
      files: files, isReadOnly: false, isLockless: true, mapSize: AddressSpace.mapSize(for: files.dataBytes + 64 << 20), mode: mode)
    defer { raw.close() }
    try JournalReplay.check(records, raw.pointer, files)
    let replay = try JournalReplay(raw.pointer, files, from: point.version)
    do throws(StorageError) {
      for (version, payload) in records { try replay.apply(payload, making: version) }
    } catch {
      replay.abort()
      throw error
    }
    try replay.commit()
  }

  /// The whole records that lead on from a point, in order: not more than the journal has room for.
  private func records(since point: SafePoint) throws(StorageError) -> [(version: UInt64, payload: [UInt8])] {
    var records: [(version: UInt64, payload: [UInt8])] = []
    guard let (journal, first) = journal(of: point) else { return [] }
    var place = first
    while let (record, offset) = try journal.record(after: place), let payload = try journal.payload(of: record, at: offset) {
      records.append((record.version, payload))
      place = CommitJournal.Place(offset: offset + record.length, version: record.version)
    }
    return records
  }
}

/// The transaction that makes commits again.
private final class JournalReplay {
  private let transaction: OpaquePointer
  private let cursor: OpaquePointer
  private let files: LMDBFiles
  private let format: UInt32
  private var version: UInt64

  init(_ handle: OpaquePointer, _ files: LMDBFiles, from version: UInt64) throws(StorageError) {
    (self.files, self.version) = (files, version)
    var (transaction, cursor): (OpaquePointer?, OpaquePointer?)
    var code = mdb_txn_begin(handle, nil, 0, &transaction)
    guard code == 0, let transaction else { throw JournalReplay.failure(code, files) }
    self.transaction = transaction
    code = mdb_cursor_open(transaction, LMDBEnvironment.database, &cursor)
    guard code == 0, let cursor else {
      mdb_txn_abort(transaction)
      throw JournalReplay.failure(code, files)
    }
    self.cursor = cursor
    let found = withRecordKey { key -> StoreRecord? in
      var (name, value) = (MDB_val(key), MDB_val())
      return mdb_get(transaction, LMDBEnvironment.database, &name, &value) == 0 ? StoreRecord(value.bytes) : nil
    }
    guard let found, found.version.rawValue == version else {
      mdb_cursor_close(cursor)
      mdb_txn_abort(transaction)
      throw JournalReplay.misfit(files)
    }
    format = found.format
  }

  /// Verifies the pages that LMDB will access, which it trusts.
  static func check(
    _ records: [(version: UInt64, payload: [UInt8])], _ handle: OpaquePointer, _ files: LMDBFiles
  ) throws(StorageError) {
    var transaction: OpaquePointer?
    let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    guard code == 0, let transaction else { throw failure(code, files) }
    defer { mdb_txn_abort(transaction) }
    let pages = StorePages(path: files.data)
    guard let view = try pages.view(of: transaction) else { throw misfit(files) }
    try pages.checkSpare()
    try view.prepare(nil)
    try withRecordKey { key throws(StorageError) in try view.prepare(key) }
    for (_, payload) in records {
      for (key, isRemoval) in try keys(in: payload, files) {
        try view.prepare(key, deletes: isRemoval)
      }
    }
  }

  private static func keys(in payload: [UInt8], _ files: LMDBFiles) throws(StorageError) -> [(key: [UInt8], isRemoval: Bool)] {
    let found = payload.withUnsafeBytes { bytes -> [(key: [UInt8], isRemoval: Bool)]? in
      var reader = JournalReader(bytes)
      var keys: [(key: [UInt8], isRemoval: Bool)] = []
      do throws(JournalFault) {
        while let (key, change) = try reader.next() {
          guard !key.isEmpty else { return nil }
          if case .removal = change { keys.append((Array(key), true)) } else { keys.append((Array(key), false)) }
        }
      } catch {
        return nil
      }
      return keys
    }
    guard let found else { throw misfit(files) }
    return found
  }

  func abort() {
    mdb_cursor_close(cursor)
    mdb_txn_abort(transaction)
  }

  /// Makes one commit's changes.
  func apply(_ payload: [UInt8], making version: UInt64) throws(StorageError) {
    let outcome = payload.withUnsafeBytes { bytes -> Result<Int32, JournalFault> in
      Result { () throws(JournalFault) in
        var reader = JournalReader(bytes)
        while let (key, change) = try reader.next() {
          let code = try apply(change, to: key)
          if code != 0 { return code }
        }
        return 0
      }
    }
    guard case .success(let code) = outcome else { throw JournalReplay.misfit(files) }
    if code != 0 { throw JournalReplay.failure(code, files) }
    self.version = version
  }

  /// LMDB's code.
  private func apply(_ change: JournalReader.Change, to key: UnsafeRawBufferPointer) throws(JournalFault) -> Int32 {
    switch change {
    case .removal:
      var name = MDB_val(key)
      let code = mdb_del(transaction, LMDBEnvironment.database, &name, nil)
      return code == MDB_NOTFOUND ? 0 : code
    case .value(let value):
      return LMDBWriter.put(key, value, cursor, 0, StoreRecord.isSealed(format))
    case .patch(let patch):
      guard let old = JournalCommit.value(of: key, transaction, isSealed: StoreRecord.isSealed(format)) else { throw JournalFault() }
      let value = try patch.applied(to: old, key: key)
      return value.withUnsafeBytes { LMDBWriter.put(key, $0, cursor, 0, StoreRecord.isSealed(format)) }
    }
  }

  /// Writes the record of the store, and waits for the disk.
  func commit() throws(StorageError) {
    let record = StoreRecord(format: format, version: Version(version), transaction: UInt64(mdb_txn_id(transaction)))
    let code = withRecordKey { key in record.withBytes { LMDBWriter.put(key, $0, cursor, 0, StoreRecord.isSealed(format)) } }
    guard code == 0 else {
      abort()
      throw JournalReplay.failure(code, files)
    }
    mdb_cursor_close(cursor)
    let outcome = mdb_txn_commit(transaction)
    guard outcome == 0 else { throw JournalReplay.failure(outcome, files) }
  }

  private static func failure(_ code: Int32, _ files: LMDBFiles) -> StorageError {
    .lmdb(code, .engine, doing: "make the last commits again in", path: files.data)
  }

  private static func misfit(_ files: LMDBFiles) -> StorageError {
    StorageError(
      .corrupt, .engine, "The journal '\(files.safePoint)' does not fit '\(files.data)'.",
      remedy: "Restore the store from a copy; or move the journal away, which gives up the commits since the last safe point.")
  }
}
