import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues

/// The single writer: the engine's writing connection inside an immediate transaction. `@exclusivity(unchecked)` as in
/// `Snapshot`.
final class SQLiteWriteTransaction: Snapshot, WriteTransaction, HistoryAdopting {
  /// The state that a savepoint restores besides the rows.
  struct Mark {
    let layout: SchemaLayout
    let objectCounts: ObjectCounts
  }

  private let hold: WriterHold
  private let layoutAtBeginning: SchemaLayout
  var marks: [Mark] = []
  /// The last issued key of each table that the transaction inserted into.
  @exclusivity(unchecked) var lastKeys: [TableID: Int64] = [:]
  /// Tables whose counters must be written.
  @exclusivity(unchecked) var countedTables: Set<TableID> = []
  /// The reason why only `end` is possible.
  @exclusivity(unchecked) private var spoiled: StorageError?
  /// Set while rows are inserted into one table: the counters that every insert needs.
  @exclusivity(unchecked) var insertion: Insertion?
  /// The ends of lists that this process has edited.
  @exclusivity(unchecked) var tails: ListTails
  /// Words that were set and are not in the tables yet, by column.
  @exclusivity(unchecked) var pending: [PendingWords] = []

  /// - Parameters:
  ///   - lists: what is known of lists in the state.
  ///   - tails: what is known of their ends.
  init(
    _ engine: SQLiteEngine, _ connection: Connection, _ state: SnapshotState, _ hold: WriterHold, _ lists: PositionCache,
    _ tails: ListTails
  ) {
    self.hold = hold
    self.tails = tails
    layoutAtBeginning = state.layout
    super.init(engine, ReadConnection(connection, state, nil), isWriting: true)
    positions = lists
  }

  deinit { end() }

  override func refuse() throws(StorageError) {
    try super.refuse()
    if let spoiled { throw spoiled }
  }

  override func settle() { settleInsertion() }

  override func settlePending() throws(StorageError) { try writePending() }

  override func pendingWord(_ id: ColumnID, _ key: Int64) -> Int64?? {
    for column in pending where column.column.id == id { return column.word(of: key) }
    return nil
  }

  override func knownCount(_ list: ColumnID, _ owner: ObjectKey) -> Int? { tails[list, owner]?.count }

  var writePowers: WritePowers { WritePowers(sides: self, history: self) }

  override func close() {
    settleInsertion()
    engine.endWrite(connection, hold, lastKeys)
  }

  /// Runs a change. An error with a wider scope than the statement, or after which SQLite has rolled back by itself, spoils the
  /// transaction.
  @inline(__always) func change<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    try enter()
    defer { leave() }
    windows.reset()
    do throws(StorageError) { return try body() } catch { throw spoil(error) }
  }

  @inline(never) func spoil(_ error: StorageError) -> StorageError {
    var error = error
    if !connection.isInTransaction, error.scope == .statement { error.scope = .transaction }
    if error.scope != .statement {
      spoiled = StorageError(
        .misuse, error.scope, "The transaction failed before and can only be ended: \(error.message)",
        underlyingCode: error.underlyingCode)
    }
    return error
  }
}

extension SQLiteWriteTransaction {
  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    try commit(version.next, durability) { () throws(StorageError) in
      try put(record, version.next)
      try trimHistory()
    }
  }

  func commit(adopting records: [CommitRecord], _ durability: Durability) throws(StorageError) -> Version {
    do throws(StorageError) { try checkHistory(records) } catch {
      end()
      throw error
    }
    let last = records.last?.version ?? version.next
    return try commit(last, durability) { () throws(StorageError) in
      try connection.execute("DELETE FROM _vivarium_history")
      for record in records.suffix(max(1, engine.options.historyLimit)) { try put(record, record.version) }
      // The catalog was written for the next version in sequence.
      try connection.execute("UPDATE _vivarium_catalog SET version = \(last.rawValue) WHERE version > \(version.rawValue)")
    }
  }

  private func commit(
    _ next: Version, _ durability: Durability, _ putHistory: () throws(StorageError) -> Void
  ) throws(StorageError) -> Version {
    try enterBeside()
    defer {
      end()
      leave()
    }
    if hasPending { try settlePending() }
    guard marks.isEmpty else {
      throw StorageError(.misuse, .transaction, "A savepoint is still open.")
    }
    settleInsertion()
    let state = SnapshotState(version: next, layout: layout)
    do throws(StorageError) {
      try engine.prepareCommit(durability)
      let counters = try putCounters()
      try putHistory()
      try connection.run(StatementKey(.commit), "COMMIT")
      connection.settle(state, counters)
    } catch {
      throw spoil(StorageError(widening: error))
    }
    engine.keep(tails, positions, next)
    // The next write can edit it without a copy.
    positions.forgetAll()
    try engine.committed(state, isNewLayout: layout !== layoutAtBeginning, durability)
    return state.version
  }

  /// Writes the changed counters, and returns all that are known.
  private func putCounters() throws(StorageError) -> [TableID: ObjectCounters] {
    // Another catalog may have other tables under the same numbers.
    var known = connection.settled.flatMap { $0.state.layout === layout ? $0.counters : nil } ?? [:]
    for id in countedTables.sorted() {
      let table = try layout.table(id)
      // Counted tables were changed, so their count is known.
      let objects: Int
      if let known = objectCounts[id] { objects = known } else { objects = try objectCount(table) }
      try connection.setCounters(ObjectCounters(objects: objects, lastKey: lastKeys[id] ?? 0), of: table)
      if let lastKey = lastKeys[id] ?? known[id]?.lastKey { known[id] = ObjectCounters(objects: objects, lastKey: lastKey) }
    }
    return known
  }

  private func put(_ record: CommitRecord, _ version: Version) throws(StorageError) {
    let statement = try connection.take(StatementKey(.putRecord)) {
      "INSERT INTO _vivarium_history (version, record) VALUES (?, ?)"
    }
    defer { connection.finish(statement) }
    statement.bind(1, Int64(version.rawValue))
    let bytes = record.encoded()
    let stored = bytes.withUnsafeBytes { bytes -> Result<Bool, StorageError> in
      do throws(StorageError) {
        let code = statement.bind(2, bytes: bytes, isText: false)
        guard code == SQLITE_OK else { throw connection.failure(code, doing: "store the commit record") }
        return .success(try connection.step(statement, "store the commit record"))
      } catch {
        return .failure(error)
      }
    }
    _ = try stored.get()
  }

  /// Deletes records beyond the limit, several at a time, so that most commits do not touch the oldest page.
  private func trimHistory() throws(StorageError) {
    let limit = UInt64(max(1, engine.options.historyLimit))
    let batch = min(64, max(1, limit / 8))
    let newest = version.next.rawValue
    guard newest > limit, newest % batch == 0 else { return }
    let statement = try connection.take(StatementKey(.trimHistory)) { "DELETE FROM _vivarium_history WHERE version <= ?" }
    defer { connection.finish(statement) }
    statement.bind(1, Int64(newest - limit))
    _ = try connection.step(statement, "trim the history")
  }
}

extension StorageError {
  /// The error with the scope of at least a transaction.
  fileprivate init(widening error: StorageError) {
    self = error
    if scope == .statement { scope = .transaction }
  }
}
