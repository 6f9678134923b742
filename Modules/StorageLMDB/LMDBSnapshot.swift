import CVivariumLMDB
import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// A read transaction. What it lends lies in the file's map and stays until `end`.
final class LMDBSnapshot: KeyValueSnapshot {
  let version: Version
  private let environment: LMDBEnvironment
  /// Nil once ended. Safe without a lock: a snapshot is used by one thread at a time, which is the protocol's
  /// contract; the cursor likewise.
  nonisolated(unsafe) private var transaction: OpaquePointer?
  /// An open cursor that nobody uses now.
  nonisolated(unsafe) private var idleCursor: OpaquePointer?

  /// Nil for no transaction of LMDB's, which there is not.
  private let map: LMDBMap?

  init(_ environment: LMDBEnvironment, _ maps: LMDBMaps) throws(StorageError) {
    let transaction = try environment.beginRead()
    do throws(StorageError) {
      version = try environment.version(of: transaction)
    } catch {
      environment.endRead(transaction)
      throw error
    }
    map = maps.map(of: transaction)
    self.environment = environment
    self.transaction = transaction
  }

  deinit { end() }

  /// LMDB's number of the version; nil once ended.
  var number: UInt64? { transaction.map { UInt64(mdb_txn_id($0)) } }

  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    let transaction = try running()
    var key = MDB_val(key)
    var value = MDB_val()
    let code = mdb_get(transaction, LMDBEnvironment.database, &key, &value)
    if code == 0 {
      guard map?.holds(value) != false else { throw leadsOut }
      return value.bytes
    }
    if code == MDB_NOTFOUND { return nil }
    throw failure(code)
  }

  func visit(
    from start: UnsafeRawBufferPointer, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    let cursor = try takeCursor()
    defer { keep(cursor) }
    var key = MDB_val()
    var value = MDB_val()
    var code = LMDBSnapshot.place(cursor, at: start, reverse: reverse, &key, &value)
    let next = reverse ? MDB_PREV : MDB_NEXT
    while code == 0 {
      guard map?.holds(key) != false, map?.holds(value) != false else { throw leadsOut }
      // The adapter's own entries come first in order and are nobody's business.
      let isOwn = key.mv_size > 0 && key.bytes[0] == 0
      if isOwn, reverse { return }
      if !isOwn, body(key.bytes, value.bytes) == .stop { return }
      // `body` may have ended the snapshot.
      _ = try running()
      code = mdb_cursor_get(cursor, &key, &value, next)
    }
    if code != MDB_NOTFOUND { throw failure(code) }
  }

  func end() {
    guard let transaction else { return }
    self.transaction = nil
    if !environment.mark.isStale, let cursor = idleCursor { mdb_cursor_close(cursor) }
    idleCursor = nil
    environment.endRead(transaction)
  }

  // MARK: Private

  private func running() throws(StorageError) -> OpaquePointer {
    try environment.mark.check()
    guard let transaction else { throw .ended(environment.files.data) }
    return transaction
  }

  private var leadsOut: StorageError {
    StorageError(
      .corrupt, .engine, "'\(environment.files.data)' is damaged: an entry leads out of the file.",
      remedy: "Restore it from a copy, or copy what can still be read into a new store.")
  }

  private func failure(_ code: Int32) -> StorageError {
    .lmdb(code, .engine, doing: "read", path: environment.files.data)
  }

  /// Puts the cursor on the first entry to visit.
  private static func place(
    _ cursor: OpaquePointer, at start: UnsafeRawBufferPointer, reverse: Bool, _ key: inout MDB_val,
    _ value: inout MDB_val
  ) -> Int32 {
    guard !start.isEmpty else { return reverse ? MDB_NOTFOUND : mdb_cursor_get(cursor, &key, &value, MDB_FIRST) }
    key = MDB_val(start)
    let code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
    guard reverse else { return code }
    if code == MDB_NOTFOUND { return mdb_cursor_get(cursor, &key, &value, MDB_LAST) }
    // The first at or after: it itself if equal, else the one before.
    if code == 0, key.mv_size == start.count, compareBytes(key.bytes, start) == 0 { return 0 }
    return code == 0 ? mdb_cursor_get(cursor, &key, &value, MDB_PREV) : code
  }

  private func takeCursor() throws(StorageError) -> OpaquePointer {
    let transaction = try running()
    if let cursor = idleCursor {
      idleCursor = nil
      return cursor
    }
    var cursor: OpaquePointer?
    let code = mdb_cursor_open(transaction, LMDBEnvironment.database, &cursor)
    guard code == 0, let cursor else { throw failure(code) }
    return cursor
  }

  private func keep(_ cursor: OpaquePointer) {
    if transaction != nil, idleCursor == nil {
      idleCursor = cursor
    } else if !environment.mark.isStale {
      mdb_cursor_close(cursor)
    }
  }
}
