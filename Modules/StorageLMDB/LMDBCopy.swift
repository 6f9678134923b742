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

/// What a copy is made of.
enum CopyContent {
  /// The entries as they are stored: not encrypted, or with the same key.
  case stored
  /// The entries that a snapshot of the version shows, encrypted with another key, or not at all (nil).
  case shown(any KeyValueSnapshot, key: (any StoreKey)?)
}

/// Writes the entries of a version to an empty file in key order: pages are full, and none are free except those replaced on
/// the path to the last one between parts. Each value is verified as it is read, and gets its checksum.
final class LMDBCopy {
  /// The amount of data held in memory until it is committed.
  static let partBytes = 16 << 20

  private let handle: OpaquePointer
  private let aside: LMDBFiles
  private let path: String
  private let expected: Int
  private var transaction: OpaquePointer?
  private var cursor: OpaquePointer?
  private var (written, ofPart) = (0, 0)
  /// Whether entries come in another order than that of their names.
  private var isOutOfOrder = false

  /// The address space for a copy of about so many bytes.
  static func mapSize(for expected: Int) -> Int {
    // Pages filled in order take no more space than their source. An excess costs only address space.
    max(RawEnvironment.mapSizeMin, min(expected, .max / 4) * 2 + partBytes * 4)
  }

  /// `path`: the final name of the file.
  init(_ handle: OpaquePointer, _ aside: LMDBFiles, _ path: String, _ expected: Int) {
    (self.handle, self.aside, self.path, self.expected) = (handle, aside, path, expected)
  }

  /// Leaves syncing the file to the caller, once for all parts.
  func fill(
    _ content: CopyContent, of view: LMDBView, _ version: Version, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    mdb_env_set_flags(handle, UInt32(MDB_NOSYNC), 1)
    defer { if let transaction { mdb_txn_abort(transaction) } }
    if case .shown(_, let key) = content, key != nil { isOutOfOrder = true }
    try begin()
    let isEncrypted: Bool
    switch content {
    case .stored:
      try fillStored(view, progress)
      if case .found(let record) = try StoreRecord.find(in: view) {
        isEncrypted = StoreRecord.isEncrypted(record.format)
      } else {
        isEncrypted = false
      }
    case .shown(let snapshot, let key):
      try fill(from: snapshot, view, key, progress)
      isEncrypted = key != nil
    }
    let record = StoreRecord(
      format: isEncrypted ? StoreRecord.encryptedFormat : StoreRecord.currentFormat, version: version,
      transaction: UInt64(mdb_txn_id(transaction)))
    try withRecordKey { key throws(StorageError) in
      try record.withBytes { bytes throws(StorageError) in try put(key, bytes, 0) }
    }
    try commit()
    if progress(CopyProgress(bytesWritten: written, bytesExpected: written)) == .stop { throw .copyStopped(path) }
  }

  private func fillStored(_ view: LMDBView, _ progress: (CopyProgress) -> Step) throws(StorageError) {
    try view.visit(from: nil, sharing: 0, reverse: false) { key, value throws(StorageError) in
      // The store's record contains the transaction that wrote it, and is written last.
      if key.count == 1, key[0] == 0 { return .proceed }
      try put(key, value, UInt32(MDB_APPEND))
      try endPartIfFull(progress)
      return .proceed
    }
  }

  private func fill(
    from snapshot: any KeyValueSnapshot, _ view: LMDBView, _ key: (any StoreKey)?, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    let id = try StoreID.find(in: view)
    if id != .unknown {
      try StoreID.withKey { key throws(StorageError) in
        try id.withBytes { bytes throws(StorageError) in try put(key, bytes, UInt32(MDB_APPEND)) }
      }
    }
    guard let key else {
      return try visit(snapshot, progress) { name, value throws(StorageError) in try put(name, value, UInt32(MDB_APPEND)) }
    }
    let (mark, cipher) = try StoreMark.make(key)
    try StoreMark.withKey { key throws(StorageError) in
      try mark.bytes.withUnsafeBufferPointer { bytes throws(StorageError) in
        try put(key, UnsafeRawBufferPointer(bytes), UInt32(MDB_APPEND))
      }
    }
    var copy = SealedCopy(cipher, snapshot.version)
    try visit(snapshot, progress) { key, value throws(StorageError) in
      try copy.add(key, value) { name, sealed, isInOrder throws(StorageError) in
        try put(name, sealed, isInOrder ? UInt32(MDB_APPEND) : 0)
      }
    }
    try copy.finish { name, sealed, _ throws(StorageError) in try put(name, sealed, 0) }
  }

  /// Visits all entries that a snapshot shows, in parts.
  private func visit(
    _ snapshot: any KeyValueSnapshot, _ progress: (CopyProgress) -> Step,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StorageError) -> Void
  ) throws(StorageError) {
    var failure: StorageError?
    try withUnsafeBytes(of: 1 as UInt8) { start throws(StorageError) in
      try snapshot.visit(from: start, sharing: 0, reverse: false) { key, value in
        do throws(StorageError) {
          try body(key, value)
          try endPartIfFull(progress)
          return .proceed
        } catch {
          failure = error
          return .stop
        }
      }
    }
    if let failure { throw failure }
  }

  private func endPartIfFull(_ progress: (CopyProgress) -> Step) throws(StorageError) {
    guard ofPart >= LMDBCopy.partBytes else { return }
    try commit()
    if progress(CopyProgress(bytesWritten: written, bytesExpected: max(expected, written))) == .stop { throw .copyStopped(path) }
    try begin()
  }

  private func begin() throws(StorageError) {
    if isOutOfOrder { try makeRoom() }
    try check(mdb_txn_begin(handle, nil, 0, &transaction))
    try check(mdb_cursor_open(transaction, LMDBEnvironment.database, &cursor))
    ofPart = 0
  }

  /// Hidden names come in no order: their pages are not full, and each part may write all pages of the parts before anew. How much that is
  /// follows from how short the entries are, so the map grows with the file. No transaction is open, and nobody else has the handle.
  private func makeRoom() throws(StorageError) {
    var (info, statistics) = (MDB_envinfo(), MDB_stat())
    mdb_env_info(handle, &info)
    mdb_env_stat(handle, &statistics)
    let used = (Int(clamping: info.me_last_pgno) + 1) * Int(statistics.ms_psize)
    // The last entry of a part may be as long as all that is expected.
    let needed = used * 2 + min(expected, .max / 4) + LMDBCopy.partBytes * 4
    guard needed > Int(clamping: info.me_mapsize) else { return }
    try check(mdb_env_set_mapsize(handle, needed))
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
