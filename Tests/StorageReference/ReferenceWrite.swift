import StorageInterface
import StoreValues

/// The writer: edits a copy of the state; a savepoint is another copy.
final class ReferenceWrite: SideWriting, ReferenceReading {
  let engine: ReferenceEngine
  let version: Version
  private var state: ReferenceState
  private var savepoints: [ReferenceState] = []
  private var hasEnded = false
  private var isSpoiled = false

  init(_ engine: ReferenceEngine, _ state: ReferenceState) {
    self.engine = engine
    version = state.version
    self.state = state
  }

  deinit { end() }

  var powers: StoragePowers { StoragePowers(sides: self) }
  var writePowers: WritePowers { WritePowers(sides: self) }

  var catalog: Catalog { state.catalog }

  func readable() throws(StorageError) -> ReferenceState {
    try check()
    return state
  }

  private func check() throws(StorageError) {
    if hasEnded { throw StorageError(.closed, .transaction, "The write transaction has ended.") }
    if isSpoiled { throw StorageError(.misuse, .transaction, "The write transaction failed and can only be ended.") }
  }

  func end() {
    if hasEnded { return }
    hasEnded = true
    savepoints = []
    state = ReferenceState(keepingNothingOf: state)
    engine.lock.release()
  }
}

extension ReferenceState {
  /// What an ended write still tells: its catalog.
  fileprivate init(keepingNothingOf other: ReferenceState) { catalog = other.catalog }
}

extension ReferenceWrite {
  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    try check()
    let entry = try state.entry(row.table)
    if row.isOverfull { throw StorageError(.tooLarge, .statement, "The row has more bytes than a row can have.") }
    guard row.count == entry.columns.count else { throw .misuse("The row was made for another version of the table.") }
    var scalars: [PropertyID: Value] = [:]
    for (slot, column) in entry.columns.enumerated() {
      guard case .scalar(let type) = column.schema.kind else { continue }
      if row.isNull(slot) {
        scalars[column.id] = .null
      } else {
        scalars[column.id] = type.isWord ? try word(row.word(slot), type) : try bytes(row.bytes(slot), type)
      }
    }
    // A key is only spent when the object is really added; a failed insert may reuse it, as nobody saw it.
    let key = engine.issuedKeys()[row.table, default: 0] + 1
    try state.insert(row.table, key, scalars)
    return ObjectKey(engine.issueKey(row.table))
  }

  func reserveKeys(in table: TableID, below key: ObjectKey) throws(StorageError) {
    try check()
    _ = try state.entry(table)
    try checkReservation(of: key)
    engine.reserveKeys(of: table, below: key)
  }

  func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    try check()
    try state.delete(table, key)
  }

  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    try check()
    let (_, type) = try state.scalarType(column)
    guard type.isWord else { throw .misuse("A column of type \(type.rawValue) has no words.") }
    return try state.set(column, key, try word.map { word throws(StorageError) in try self.word(word, type) } ?? .null)
  }

  func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    try check()
    let (_, type) = try state.scalarType(column)
    guard !type.isWord else { throw .misuse("A column of type \(type.rawValue) has no bytes.") }
    return try state.set(column, key, try bytes.map { bytes throws(StorageError) in try self.bytes(bytes, type) } ?? .null)
  }

  func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    try check()
    try state.edit(column, owner, edit)
  }

  func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try check()
    return try state.insert(member: member, into: column, owner)
  }

  func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try check()
    return try state.remove(member: member, from: column, owner)
  }

  func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    try check()
    return try state.set(value, forKey: key, in: column, owner)
  }

  func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try check()
    return try state.remove(key: key, from: column, owner)
  }

  private func word(_ word: Int64, _ type: ValueType) throws(StorageError) -> Value {
    guard let value = Value(word: word, type: type), value.word == word else {
      throw StorageError(.typeMismatch, .statement, "\(word) is no \(type.rawValue).")
    }
    return value
  }

  private func bytes(_ bytes: UnsafeRawBufferPointer, _ type: ValueType) throws(StorageError) -> Value {
    guard let value = Value(bytes: bytes, type: type) else {
      throw StorageError(.typeMismatch, .statement, "\(bytes.count) bytes are no \(type.rawValue).")
    }
    return value
  }
}

extension ReferenceWrite {
  func setCatalog(_ catalog: Catalog) throws(StorageError) {
    try check()
    do { try state.adopt(state.catalog.hasSideEntries ? catalog.withSideEntries() : catalog) } catch {
      isSpoiled = true
      throw error
    }
  }

  func setSide(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError) {
    try check()
    try SideKey.check(key)
    state.sides[key] = value
    if value != nil { state.catalog = state.catalog.withSideEntries() }
  }

  func beginSavepoint() throws(StorageError) {
    try check()
    savepoints.append(state)
  }

  func releaseSavepoint() throws(StorageError) {
    try check()
    guard savepoints.popLast() != nil else { throw .misuse("No savepoint is open.") }
  }

  func rollbackToSavepoint() throws(StorageError) {
    try check()
    guard let saved = savepoints.popLast() else { throw .misuse("No savepoint is open.") }
    state = saved
  }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    try check()
    defer { end() }
    guard savepoints.isEmpty else { throw StorageError(.misuse, .transaction, "A savepoint is still open.") }
    var record = record
    record.version = version.next
    state.version = version.next
    state.history.append(record)
    state.history.removeFirst(max(0, state.history.count - engine.options.historyLimit))
    state.issued = engine.issuedKeys()
    engine.publish(state)
    return state.version
  }
}
