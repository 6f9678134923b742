import Storage
import Values

/// A write transaction whose every change is recorded: the one way in which objects are written, so that
/// the commit record in the file is complete by construction.
///
/// It adds what storage leaves to the level above: equal values are no change, and an object that is deleted
/// is first taken out of every link and list that points to it.
///
/// Confined to its owner, like the transaction it wraps. Errors are the transaction's, unchanged.
public final class RecordedTransaction {
  /// For reading. Changes made past the recorder are in nobody's notification.
  public let transaction: any WriteTransaction
  private let origin: UInt64
  private var changes = PendingChanges()
  private var savepoints: [PendingChanges] = []
  private var changedCatalog = false
  /// Relationships by the table they point to; made when first needed, dropped with the catalog.
  private var incoming: [TableID: [IncomingRelationship]]?

  /// - Parameter origin: tells this store's commits from others', see `CommitRecord.origin`.
  public init(_ transaction: any WriteTransaction, origin: UInt64) {
    self.transaction = transaction
    self.origin = origin
  }

  /// Whether anything was changed so far.
  public var isEmpty: Bool { changes.isEmpty && !changedCatalog }

  /// The net changes so far, without version, author and time. O(changes · log changes).
  public var record: CommitRecord {
    CommitRecord(origin: origin, changedCatalog: changedCatalog, tables: changes.tableChanges())
  }
}

// MARK: - Objects

extension RecordedTransaction {
  /// Adds an object. See `WriteTransaction.insert`.
  public func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    let key = try transaction.insert(row)
    changes.insert(row.table, key)
    return key
  }

  /// Removes an object after taking it out of every link and list that points to it. O(incoming links).
  public func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    guard try transaction.contains(table, key) else {
      throw StorageError(.objectDeleted, .statement, "There is no object \(key) in table \(table.rawValue).")
    }
    for relationship in relationships(to: table) { try nullify(relationship, target: key) }
    try transaction.delete(table, key)
    changes.delete(table, key)
  }

  /// Sets a word column; nil is null. Returns whether the value differed: an equal one changes nothing.
  @discardableResult
  public func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    if try transaction.word(column, key) == word { return false }
    try transaction.set(column, key, word: word)
    changes.modify(column, key)
    return true
  }

  /// Sets a bytes column; nil is null. Returns whether the value differed.
  @discardableResult
  public func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    var isEqual = false
    try transaction.bytes(column, key) { old in
      switch (old, bytes) {
      case (nil, nil): isEqual = true
      case (let old?, let new?): isEqual = old.elementsEqual(new)
      default: isEqual = false
      }
    }
    if isEqual { return false }
    try transaction.set(column, key, bytes: bytes)
    changes.modify(column, key)
    return true
  }

  /// Sets a scalar column from a box. Returns whether the value differed.
  @discardableResult
  public func set(_ column: ColumnID, _ key: ObjectKey, _ value: Value) throws(StorageError) -> Bool {
    if try transaction.value(column, key) == value { return false }
    try transaction.set(column, key, value)
    changes.modify(column, key)
    return true
  }

  /// Records a property as modified that keeps its value: for what depends on the object and lies outside the store.
  public func touch(_ column: ColumnID, _ key: ObjectKey) { changes.modify(column, key) }

  /// Edits a list. Edits that cannot change anything (an empty insertion, clearing an empty list, moving an
  /// element to its own place) are not recorded.
  public func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    let isIdle: Bool
    switch edit {
    case .clear: isIdle = try transaction.elementCount(column, owner) == 0
    case .insert(_, let values): isIdle = values.isEmpty
    case .remove(let range): isIdle = range.isEmpty
    case .move(let from, let to): isIdle = from == to
    case .set: isIdle = false
    }
    try transaction.edit(column, owner, edit)
    if !isIdle { changes.edit(column, owner, ListChange.Edit(edit)) }
  }

  /// Changes the catalog. See `WriteTransaction.setCatalog`.
  public func setCatalog(_ catalog: Catalog) throws(StorageError) {
    try transaction.setCatalog(catalog)
    changedCatalog = true
    incoming = nil
  }
}

// MARK: - Links

/// A relationship, seen from the type it points to.
private struct IncomingRelationship {
  let column: ColumnID
  let isList: Bool
}

extension RecordedTransaction {
  private func relationships(to table: TableID) -> [IncomingRelationship] {
    if let incoming { return incoming[table] ?? [] }
    var found: [TableID: [IncomingRelationship]] = [:]
    let catalog = transaction.catalog
    for source in catalog.tables {
      for column in source.columns where column.schema.isRelationship && column.schema.isStored {
        guard let target = column.schema.target.flatMap({ catalog[$0]?.id }) else { continue }
        found[target, default: []].append(
          IncomingRelationship(column: source.column(column.id), isList: column.schema.isList))
      }
    }
    incoming = found
    return found[table] ?? []
  }

  private func nullify(_ relationship: IncomingRelationship, target: ObjectKey) throws(StorageError) {
    var sources: [Int64] = []
    try transaction.sources(of: target, through: relationship.column) { keys in
      for key in keys where sources.last != key { sources.append(key) }
      return .proceed
    }
    for source in sources {
      if relationship.isList {
        try removeElements(equalTo: target, of: relationship.column, ObjectKey(source))
      } else {
        try set(relationship.column, ObjectKey(source), word: nil)
      }
    }
  }

  private func removeElements(
    equalTo target: ObjectKey, of column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) {
    var positions: [Int] = []
    var position = 0
    try transaction.elements(column, owner, 0..<Int.max) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count where !vector.isNull(at: row) && vector.word(at: row) == target.rawValue {
        positions.append(position + row)
      }
      position += batch.count
      return .proceed
    }
    for position in positions.reversed() { try edit(column, owner, .remove(position..<position + 1)) }
  }
}

// MARK: - Savepoints and the end

extension RecordedTransaction {
  public func beginSavepoint() throws(StorageError) {
    try transaction.beginSavepoint()
    savepoints.append(changes)
  }

  public func releaseSavepoint() throws(StorageError) {
    try transaction.releaseSavepoint()
    if !savepoints.isEmpty { savepoints.removeLast() }
  }

  /// Undoes data and record alike: what was rolled back is in nobody's notification.
  public func rollbackToSavepoint() throws(StorageError) {
    try transaction.rollbackToSavepoint()
    if let before = savepoints.popLast() { changes = before }
  }

  /// Commits data and record together. The transaction is over, whether this throws or not.
  public func commit(
    author: String?, timeMilliseconds: Int64, _ durability: Durability
  ) throws(StorageError) -> Version {
    var record = record
    record.author = author
    record.timeMilliseconds = timeMilliseconds
    return try transaction.commit(record, durability)
  }

  /// Rolls back, if the transaction is still open.
  public func end() { transaction.end() }
}

extension ListChange.Edit {
  init(_ edit: ElementEdit) {
    switch edit {
    case .insert(let at, let values): self = .insert(at: at, count: values.count)
    case .remove(let range): self = .remove(range)
    case .set(let at, _): self = .set(at: at)
    case .move(let from, let to): self = .move(from: from, to: to)
    case .clear: self = .clear
    }
  }
}
