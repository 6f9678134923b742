import Storage
import Values

/// An open write: edits in memory over the snapshot it began from, one batch at the commit.
///
/// No call but `commit` touches the store for writing, and that does so in one go, so the transaction may move
/// between threads as its protocol says. `@exclusivity(unchecked)` as in `ColumnReading`.
final class ColumnWrite: ColumnReading, WriteTransaction, WindowedReading, GatheringReading {
  private let writer: any KeyValueWriter
  /// Undone backwards by a rollback; kept only while a savepoint is open.
  var undo: [UndoStep] = []
  @exclusivity(unchecked) private var savepoints: [Int] = []
  var isRecordingUndo: Bool { !savepoints.isEmpty }
  /// Indexes that the new catalog does not have any more.
  var droppedIndexes: [IndexReference] = []
  var hasChangedCatalog = false
  /// Something failed half way: nothing but the end is allowed.
  @exclusivity(unchecked) var isSpoiled = false
  /// The key being made, used again and again.
  var keyBuffer: [UInt8] = []

  init(
    _ engine: ColumnEngine, _ snapshot: any KeyValueSnapshot, _ writer: any KeyValueWriter
  ) throws(StorageError) {
    self.writer = writer
    do throws(StorageError) {
      try super.init(engine, snapshot)
    } catch {
      snapshot.end()
      throw error
    }
  }

  deinit { end() }

  func end() {
    guard !isEnded else { return }
    isEnded = true
    for table in openTables where table.hasNextKey { engine.keepKeys(table.id, below: table.nextKey) }
    forgetTables()
    snapshot.end()
    writer.end()
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
    try checkOpen()
    defer { end() }
    try checkWritable()
    guard savepoints.isEmpty else {
      throw StorageError(.misuse, .transaction, "A savepoint is still open.", remedy: "Release it or roll it back.")
    }
    let batch = try makeBatch(record)
    try writer.apply(batch, durability)
    for table in openTables {
      for edits in table.edits {
        if let edits, let fences = edits.mergedFences { engine.structures.keep(fences, of: edits.shape.reference) }
      }
    }
    return batch.version
  }
}
