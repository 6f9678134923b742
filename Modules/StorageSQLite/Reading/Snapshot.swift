import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues

/// The common part of a read and an open write: a connection inside a transaction, read through the layout of its version.
///
/// One thread at a time, any, as for all transactions of the storage interface. `@exclusivity(unchecked)` where no access spans
/// a call of a caller's closure.
class Snapshot: StorageReading {
  let engine: SQLiteEngine
  /// Holds the connection. An idle read can be given another one.
  private final let readConnection: ReadConnection
  /// Whether `readConnection` is claimed: from the first use of the connection in a call to the end of it; by a write
  /// throughout.
  @exclusivity(unchecked) private final var isClaimed = false
  /// How often the connection was claimed.
  @exclusivity(unchecked) private final var useCount: UInt32 = 0
  private final let isWriting: Bool
  /// A read of exactly what this process's last commit left, which shares what is known of lists.
  final let sharesLists: Bool
  let version: Version
  /// Replaced in a write that changes the catalog.
  @exclusivity(unchecked) final var layout: SchemaLayout
  /// The positions of the lists that were read, by owner.
  final var positions = PositionCache()
  @exclusivity(unchecked) final var windows = WindowTable()
  @exclusivity(unchecked) final var objectCounts = ObjectCounts()
  /// A write has set words that are not in the tables yet.
  @exclusivity(unchecked) final var hasPending = false
  @exclusivity(unchecked) private final var isEnded = false
  /// The number of running calls; a call inside a lent closure is counted separately.
  @exclusivity(unchecked) private final var depth = 0

  init(_ engine: SQLiteEngine, _ readConnection: ReadConnection, isWriting: Bool, sharesLists: Bool = false) {
    self.engine = engine
    self.sharesLists = sharesLists
    self.readConnection = readConnection
    self.isWriting = isWriting
    version = readConnection.version
    layout = readConnection.layout
  }

  /// The connection, for the duration of the running call.
  @inline(__always) final var connection: Connection {
    if !isClaimed {
      readConnection.take()
      isClaimed = true
      useCount &+= 1
      // A snapshot that is read often deserves a larger cache. Asked again now and then: the budget may have been taken.
      if useCount & 63 == 0 { readConnection.connection.widenCache() }
    }
    return readConnection.connection
  }

  /// The read connection, with its claim released.
  final func leaveConnection() -> ReadConnection {
    if isClaimed { readConnection.release() }
    isClaimed = false
    return readConnection
  }

  deinit {
    // Not `end`: a subclass's own `deinit` has already called it. Nothing is open any more.
  }

  final var catalog: Catalog { layout.catalog }

  final var powers: StoragePowers {
    StoragePowers(windows: self, gathering: self, pushdown: self, aggregates: self, sides: self, foreign: self, targets: self)
  }

  /// Throws if the transaction can no longer be used.
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

  /// The same, for calls that consider pending words themselves, or that no pending word can affect.
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

  /// Closes once no call is running: a lent closure may have ended the transaction it reads.
  private final func finishEnd() {
    // A forked child leaves what it inherited to the parent.
    if depth == 0, !engine.mark.isStale { close() }
  }

  /// Ends the transaction in the file and releases the connection. Called once.
  func close() {}

  /// The number of elements of a list, if known without reading them.
  func knownCount(_ list: ColumnID, _ owner: ObjectKey) -> Int? { nil }

  /// Updates `objectCounts` with rows that are being inserted.
  func settle() {}

  /// Writes pending words into the tables.
  func settlePending() throws(StorageError) {}

  /// The pending word of an object: nil if there is none, and a nil in it for null.
  func pendingWord(_ id: ColumnID, _ key: Int64) -> Int64?? { nil }
}

/// The version and layout a transaction begins with.
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
      // From the next lookup on, the value is read with it.
      let window = windows.column(column)
      if try readRow(window, key.rawValue), let word = window.word(key.rawValue, windows.epoch) { return word }
    }
    let statement = try read(column, key)
    defer { connection.finish(statement) }
    switch statement.word(0, column.cell) {
    case .word(let word): return word
    case .null: return nil
    case .foreign: throw statement.named(.foreignValue(in: column.label))
    }
  }

  final func bytes(
    _ id: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    // Only words are deferred.
    try enterBeside()
    defer { leave() }
    let column = try layout.bytesColumn(id)
    let statement = try read(column, key)
    defer { connection.finish(statement) }
    if statement.holdsBytes(0, column.cell) { return body(statement.bytes(0, column.cell)) }
    guard statement.isNull(0) else { throw statement.named(.foreignValue(in: column.label)) }
    body(nil)
  }

  /// The statement positioned on the row of an object, with one column. `finish` it.
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
