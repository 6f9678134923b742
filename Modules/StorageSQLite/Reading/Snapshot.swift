import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues

/// What a read and an open write have in common: a connection inside a transaction, read through the layout of
/// its version.
///
/// One thread at a time, any, as the storage interface says of all transactions. `@exclusivity(unchecked)` where no access spans a
/// call of a lent closure.
class Snapshot: StorageReading {
  let engine: SQLiteEngine
  /// Where the connection is. A read that rests can be given another one.
  private final let readConnection: ReadConnection
  /// Whether `readConnection` is claimed: by the first use of the connection in a call, to the end of it; by a write throughout.
  @exclusivity(unchecked) private final var isClaimed = false
  private final let isWriting: Bool
  let version: Version
  /// Changes in a write that changes the catalog.
  @exclusivity(unchecked) final var layout: SchemaLayout
  /// Positions of the lists that were opened, by owner.
  final var positions = PositionCache()
  @exclusivity(unchecked) final var windows = WindowTable()
  @exclusivity(unchecked) final var objectCounts = ObjectCounts()
  /// A write has set words that are not in the tables yet.
  @exclusivity(unchecked) final var hasPending = false
  @exclusivity(unchecked) private final var isEnded = false
  /// Calls under way: a call inside a lent closure is one more.
  @exclusivity(unchecked) private final var depth = 0

  init(_ engine: SQLiteEngine, _ readConnection: ReadConnection, isWriting: Bool) {
    self.engine = engine
    self.readConnection = readConnection
    self.isWriting = isWriting
    version = readConnection.version
    layout = readConnection.layout
  }

  /// The connection, for as long as the call takes that is under way.
  @inline(__always) final var connection: Connection {
    if !isClaimed {
      readConnection.take()
      isClaimed = true
    }
    return readConnection.connection
  }

  /// The read connection, of which nobody has a claim any more.
  final func leaveConnection() -> ReadConnection {
    if isClaimed { readConnection.release() }
    isClaimed = false
    return readConnection
  }

  deinit {
    // Not `end`: a subclass's own `deinit` has run before and called it. Here nothing is open any more.
  }

  final var catalog: Catalog { layout.catalog }

  final var powers: StoragePowers {
    StoragePowers(windows: self, gathering: self, pushdown: self, aggregates: self, sides: self)
  }

  /// Throws when the transaction cannot be used any more.
  func refuse() throws(StorageError) {
    try engine.mark.check()
    if isEnded { throw .ended }
  }

  /// Call first in every call; `leave` last.
  @inline(__always) final func enter() throws(StorageError) {
    try enterBeside()
    guard hasPending else { return }
    do throws(StorageError) { try settlePending() } catch {
      leave()
      throw error
    }
  }

  /// The same for calls that know what is pending, or ask what nothing pending can change.
  @inline(__always) final func enterBeside() throws(StorageError) {
    try refuse()
    depth += 1
  }

  @inline(__always) final func leave() {
    depth -= 1
    if isClaimed, depth == 0, !isWriting {
      isClaimed = false
      readConnection.release()
    }
    if isEnded { finishEnd() }
  }

  final func end() {
    if isEnded { return }
    isEnded = true
    finishEnd()
  }

  /// Ends once no call is under way any more: a lent closure may have ended the transaction it reads.
  private final func finishEnd() {
    // What a forked child inherits stays the parent's, as it is.
    if depth == 0, !engine.mark.isStale { close() }
  }

  /// Ends the transaction in the file and lets go of the connection. Called once.
  func close() {}

  /// How many elements a list has where that is known without them.
  func knownCount(_ list: ColumnID, _ owner: ObjectKey) -> Int? { nil }

  /// Brings `objectCounts` up to date with rows that are being added.
  func settle() {}

  /// Puts words into the tables that were set and kept back.
  func settlePending() throws(StorageError) {}

  /// Such a word: nil when there is none, and a nil in it for null.
  func pendingWord(_ id: ColumnID, _ key: Int64) -> Int64?? { nil }
}

/// What a transaction finds when it begins.
struct SnapshotState {
  let version: Version
  let layout: SchemaLayout
}

extension Snapshot {
  final func count(_ id: TableID) throws(StorageError) -> Int {
    try enterBeside()
    defer { leave() }
    return try objectCount(try layout.table(id))
  }

  final func objectCount(_ table: TableLayout) throws(StorageError) -> Int {
    settle()
    if let count = objectCounts[table.id] { return count }
    let count = try connection.counters(of: table).objects
    objectCounts[table.id] = count
    return count
  }

  final func contains(_ id: TableID, _ key: ObjectKey) throws(StorageError) -> Bool {
    try enterBeside()
    defer { leave() }
    return try contains(try layout.table(id), key)
  }

  final func contains(_ table: TableLayout, _ key: ObjectKey) throws(StorageError) -> Bool {
    let statement = try connection.take(StatementKey(.contains, table.number)) {
      "SELECT 1 FROM \(table.name) WHERE _key = ?"
    }
    defer { connection.finish(statement) }
    statement.bind(1, key.rawValue)
    return try connection.step(statement, "read \(table.name)")
  }

  final func requireObject(_ table: TableLayout, _ key: ObjectKey) throws(StorageError) {
    guard try contains(table, key) else { throw table.objectDeleted(key) }
  }

  final func word(_ id: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    try enterBeside()
    defer { leave() }
    if hasPending, let word = pendingWord(id, key.rawValue) { return word }
    if let word = windows.known(id)?.word(key.rawValue, windows.epoch) { return word }
    let column = try layout.wordColumn(id)
    if windows.wasFound(id.table, key.rawValue) {
      // Read with the look-up from the next one on.
      let window = windows.column(column)
      if try readRow(window, key.rawValue), let word = window.word(key.rawValue, windows.epoch) { return word }
    }
    let statement = try read(column, key)
    defer { connection.finish(statement) }
    switch statement.word(0, column.cell) {
    case .word(let word): return word
    case .null: return nil
    case .foreign: throw .foreignValue(in: column.label)
    }
  }

  final func bytes(
    _ id: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    // Only words are kept back.
    try enterBeside()
    defer { leave() }
    let column = try layout.bytesColumn(id)
    let statement = try read(column, key)
    defer { connection.finish(statement) }
    if statement.holdsBytes(0, column.cell) { return body(statement.bytes(0, column.cell)) }
    guard statement.isNull(0) else { throw .foreignValue(in: column.label) }
    body(nil)
  }

  /// The statement that stands on the row of an object, with the one column. `finish` it.
  @inline(__always) private final func read(
    _ column: ColumnLayout, _ key: ObjectKey
  ) throws(StorageError) -> Statement {
    let statement = try connection.take(StatementKey(.read, column.id.table.rawValue, column.id.property.rawValue)) {
      readText(column)
    }
    statement.bind(1, key.rawValue)
    do throws(StorageError) {
      if try connection.step(statement, "read \(column.label)") { return statement }
      throw try layout.table(column.id.table).objectDeleted(key)
    } catch {
      connection.finish(statement)
      throw error
    }
  }
}

extension SchemaLayout {
  /// The quoted name of the table that a column belongs to.
  func tableName(_ column: ColumnLayout) -> String { (try? table(column.id.table).name) ?? "" }
}
