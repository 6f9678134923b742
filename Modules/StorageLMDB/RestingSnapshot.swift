import CVivariumLMDB
import ColumnStore
import StorageInterface
import StoreValues

/// The newest version of a file that nobody has open, read without LMDB's table of readers.
final class RestingSnapshot: KeyValueSnapshot {
  let version: Version
  let view: LMDBView
  private let format: UInt32
  private let raw: RawEnvironment
  /// Holds the version until the end. Safe to share: a constant that `mdb_txn_begin` made and that was checked not to be null, not anything
  /// of the file's; used again by `deinit` alone, which runs once, on whichever thread (the transaction has no reader's slot).
  nonisolated(unsafe) private let transaction: OpaquePointer
  /// Safe without a lock: `KeyValueSnapshot` is used by one thread at a time. Reads after the end throw; memory goes with `deinit` only.
  nonisolated(unsafe) private var hasEnded = false

  /// The caller keeps others out until the last reference to the snapshot is gone.
  init(_ files: LMDBFiles) throws(StorageError) {
    let raw = try RawEnvironment(files: files, isReadOnly: true, isLockless: true, mapSize: RawEnvironment.mapSizeMin, mode: 0)
    var transaction: OpaquePointer?
    let code = mdb_txn_begin(raw.pointer, nil, UInt32(MDB_RDONLY), &transaction)
    guard code == 0, let transaction else {
      raw.close()
      throw .lmdb(code, .engine, doing: "read", path: files.data)
    }
    do throws(StorageError) {
      (view, version, format) = try RestingSnapshot.opened(transaction, files.data)
    } catch {
      mdb_txn_abort(transaction)
      raw.close()
      throw error
    }
    (self.raw, self.transaction) = (raw, transaction)
  }

  private static func opened(_ transaction: OpaquePointer, _ path: String) throws(StorageError) -> (LMDBView, Version, format: UInt32) {
    let pages = StorePages(path: path)
    guard let view = try pages.view(of: transaction), case .found(let record) = try StoreRecord.find(in: view) else {
      throw StorageError(.fileNotFound, .engine, "'\(path)' holds no store yet.", remedy: "Open it for writing once.")
    }
    try pages.checkSpare()
    return (view, record.version, record.format)
  }

  deinit {
    mdb_txn_abort(transaction)
    raw.close()
  }

  /// The cipher of the file's entries; nil: they are not encrypted. Throws `.missingKey`, `.wrongKey` and `.notEncrypted`.
  func cipher(_ key: (any StoreKey)?) throws(StorageError) -> EntryCipher? {
    guard StoreRecord.isEncrypted(format) else {
      if key != nil { throw .notEncrypted(view.path) }
      return nil
    }
    guard let key else { throw .missingKey(view.path) }
    return try StoreMark.find(in: view).cipher(key, view.path)
  }

  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    try checkOpen()
    return try view.value(for: key)
  }

  func visit(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try checkOpen()
    try view.visitEntries(from: start, sharing: prefix, reverse: reverse) { key, value in body(key, value) }
  }

  func end() { hasEnded = true }

  private func checkOpen() throws(StorageError) { if hasEnded { throw .ended(view.path) } }
}
