import CVivariumLMDB
import ColumnStore
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

extension LMDBStore {
  package func writeCopy(
    of snapshot: any KeyValueSnapshot, to path: String, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    guard let snapshot = snapshot as? LMDBSnapshot else { throw StorageError(.misuse, .statement, "The snapshot is of another store.") }
    let view = try snapshot.running()
    let path = try LMDBFiles.unused(path)
    let expected = try statistics().liveBytes
    // Pages filled in order take no more space than their source. An excess costs only address space.
    let mapSize = max(RawEnvironment.mapSizeMin, min(expected, .max / 4) * 2 + LMDBCopy.partBytes * 4)
    let mode = try environment().files.sideMode
    let isMade = try LMDBFiles.making(path, mode: mode, mapSize: mapSize) { (handle, aside) throws(StorageError) in
      let copy = LMDBCopy(handle, aside, path, expected)
      try copy.fill(from: view, snapshot.version, progress)
    }
    if !isMade { throw .exists(path) }
  }
}

/// Writes the entries of a version to an empty file in key order: pages are full, and none are free except those replaced on
/// the path to the last one between parts. Each value is verified as it is read, and gets its checksum.
private final class LMDBCopy {
  /// The amount of data held in memory until it is committed.
  static let partBytes = 16 << 20

  private let handle: OpaquePointer
  private let aside: LMDBFiles
  private let path: String
  private let expected: Int
  private var transaction: OpaquePointer?
  private var cursor: OpaquePointer?
  private var (written, ofPart) = (0, 0)

  /// `path`: the final name of the file.
  init(_ handle: OpaquePointer, _ aside: LMDBFiles, _ path: String, _ expected: Int) {
    (self.handle, self.aside, self.path, self.expected) = (handle, aside, path, expected)
  }

  /// Leaves syncing the file to the caller, once for all parts.
  func fill(from view: LMDBView, _ version: Version, _ progress: (CopyProgress) -> Step) throws(StorageError) {
    mdb_env_set_flags(handle, UInt32(MDB_NOSYNC), 1)
    defer { if let transaction { mdb_txn_abort(transaction) } }
    try begin()
    try view.visit(from: nil, sharing: 0, reverse: false) { key, value throws(StorageError) in
      // The store's record contains the transaction that wrote it, and is written last.
      if key.count == 1, key[0] == 0 { return .proceed }
      try put(key, value, UInt32(MDB_APPEND))
      guard ofPart >= LMDBCopy.partBytes else { return .proceed }
      try commit()
      if progress(CopyProgress(bytesWritten: written, bytesExpected: max(expected, written))) == .stop { throw .copyStopped(path) }
      try begin()
      return .proceed
    }
    let record = StoreRecord(
      format: StoreRecord.currentFormat, version: version, transaction: UInt64(mdb_txn_id(transaction)))
    try withRecordKey { key throws(StorageError) in
      try record.withBytes { bytes throws(StorageError) in try put(key, bytes, 0) }
    }
    try commit()
    if progress(CopyProgress(bytesWritten: written, bytesExpected: written)) == .stop { throw .copyStopped(path) }
  }

  private func begin() throws(StorageError) {
    try check(mdb_txn_begin(handle, nil, 0, &transaction))
    try check(mdb_cursor_open(transaction, LMDBEnvironment.database, &cursor))
    ofPart = 0
  }

  private func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ flags: UInt32) throws(StorageError) {
    guard let cursor else { throw .ended(path) }
    try check(LMDBWriter.put(key, value, cursor, flags, true))
    written += key.count + value.count
    ofPart += key.count + value.count
  }

  private func commit() throws(StorageError) {
    mdb_cursor_close(cursor)
    let code = mdb_txn_commit(transaction)
    (transaction, cursor) = (nil, nil)
    try check(code)
  }

  private func check(_ code: Int32) throws(StorageError) {
    if code == 0 { return }
    throw .lmdb(aside.isFull(code, for: LMDBCopy.partBytes) ? ENOSPC : code, .statement, doing: "write the copy", path: path)
  }
}
