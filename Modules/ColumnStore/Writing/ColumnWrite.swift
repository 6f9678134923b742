import StorageInterface
import StoreValues

/// An open write: edits in memory over the snapshot it began from, one batch at the commit.
///
/// Only `commit` writes to the store, in one call, so the transaction may move between threads as its protocol says.
/// `@exclusivity(unchecked)` as in `ColumnReading`.
final class ColumnWrite: ColumnReading, WriteTransaction, HistoryAdopting, WindowedReading, GatheringReading, TextIndexReading,
  SideWriting, LinkedTargetReading
{
  private let writer: any KeyValueWriter
  /// Applied in reverse by a rollback; recorded only while a savepoint is open.
  var undo: [UndoStep] = []
  @exclusivity(unchecked) private var savepoints: [Int] = []
  var isRecordingUndo: Bool { !savepoints.isEmpty }
  /// Indexes that the new catalog no longer has.
  var droppedIndexes: [IndexReference] = []
  var hasChangedCatalog = false
  /// An operation failed half way; the transaction can only be ended.
  @exclusivity(unchecked) var isSpoiled = false {
    // Setting a word in place does not check this flag.
    didSet { forgetPlaces() }
  }
  /// Fresh rows as encoded in the batch.
  var encodedFresh: [(table: TableID, rows: ValueBuffer)] = []
  /// Side entries that the write has put or removed; nil until there is one.
  @exclusivity(unchecked) var sideEdits: SideEdits?
  /// The chunks that the commit writes, once computed.
  var touched: TouchedChunks?
  /// A buffer for keys, reused.
  var keyBuffer: [UInt8] = []

  init(
    _ engine: ColumnEngine, _ snapshot: any KeyValueSnapshot, _ writer: any KeyValueWriter
  ) throws(StorageError) {
    self.writer = writer
    do throws(StorageError) {
      try super.init(engine, snapshot, isFixed: false)
    } catch {
      snapshot.end()
      throw error
    }
  }

  deinit { end() }

  var powers: StoragePowers { StoragePowers(windows: self, gathering: self, texts: self, sides: self, targets: self) }
  var writePowers: WritePowers { WritePowers(sides: self, history: self) }

  func end() {
    guard !isEnded else { return }
    isEnded = true
    letGoIfIdle()
  }

  override func letGo() {
    letGoOfTables()
    snapshot.end()
    writer.end()
  }

  /// Drops what was read and edited, but keeps the keys that were given out.
  private func letGoOfTables() {
    for table in openTables where table.hasNextKey { engine.keepKeys(table.id, below: table.nextKey) }
    sideEdits = nil
    forgetTables()
  }

  func checkWritable() throws(StorageError) {
    try checkOpen()
    if isSpoiled {
      throw StorageError(.misuse, .transaction, "The transaction has failed.", remedy: "End it and begin another.")
    }
  }

  func beginSavepoint() throws(StorageError) {
    try checkWritable()
    savepoints.append(undo.count)
  }

  func releaseSavepoint() throws(StorageError) {
    try checkWritable()
    guard savepoints.popLast() != nil else { throw .misuse("There is no open savepoint to release.") }
    if savepoints.isEmpty { undo = [] }
  }

  func rollbackToSavepoint() throws(StorageError) {
    try checkWritable()
    guard let mark = savepoints.popLast() else { throw .misuse("There is no open savepoint to roll back to.") }
    while undo.count > mark {
      let step = undo.removeLast()
      do throws(StorageError) {
        try revert(step)
      } catch {
        isSpoiled = true
        throw StorageError(
          error.code, .transaction, error.message, remedy: error.remedy, underlyingCode: error.underlyingCode)
      }
    }
  }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    try commit(.next(record, version: version.next), durability)
  }

  func commit(adopting records: [CommitRecord], _ durability: Durability) throws(StorageError) -> Version {
    try checkOpen()
    do throws(StorageError) { try checkHistory(records) } catch {
      end()
      throw error
    }
    return try commit(.adopted(records, version: records.last?.version ?? version.next), durability)
  }

  private func commit(_ history: NewHistory, _ durability: Durability) throws(StorageError) -> Version {
    try checkOpen()
    defer { end() }
    try checkWritable()
    guard savepoints.isEmpty else {
      throw StorageError(.misuse, .transaction, "A savepoint is still open.", remedy: "Release it or roll it back.")
    }
    let batch = try makeBatch(history)
    let version = batch.version
    var merged: [(index: IndexReference, fences: IndexFences)] = []
    for case let edits? in openTables.flatMap(\.edits) {
      if let fences = edits.mergedFences { merged.append((edits.shape.reference, fences)) }
    }
    let left = freshRowsToLeave(for: version)
    // Everything is in the batch now, which the store copies and releases piece by piece: a large write is in memory once.
    letGoOfTables()
    try writer.apply(consume batch, durability)
    for (index, fences) in merged { engine.structures.keep(fences, of: index) }
    for rows in left { engine.structures.leave(rows) }
    if let touched { engine.image.note(touched, version: version.rawValue) }
    return version
  }

  /// The fresh rows that the next write can continue with. Only if rows were added and nothing else, so that no memory of
  /// replaced values is retained.
  private func freshRowsToLeave(for version: Version) -> [CarriedRows] {
    if hasChangedCatalog { return [] }
    return openTables.compactMap { table in
      guard let chunk = table.fresh, let encoded = encodedFresh.first(where: { $0.table == table.id })?.rows,
        table.storedFresh != nil || !table.isFreshStored,
        chunk.isFull, table.lists.isEmpty
      else { return nil }
      return CarriedRows(table: table.id, version: version, chunk: chunk, encoded: encoded)
    }
  }
}
