import StorageInterface
import StoreValues

/// A write transaction whose every change is recorded: the one way in which objects are written, so that
/// the commit record in the file is complete by construction.
///
/// It adds what storage leaves to the level above: equal values are no change, an object that is deleted is first taken
/// out of every link and list that points to it, and what it alone owns goes with it.
///
/// Confined to its owner, like the transaction it wraps. Errors are the transaction's, unchanged.
public final class RecordedTransaction {
  /// For reading. Changes made past the recorder are in nobody's notification.
  public let transaction: any WriteTransaction
  private let origin: UInt64
  /// Whether the delete rules that properties declare are followed. What is embedded goes with its owner in any case.
  private let followsRules: Bool
  var changes = PendingChanges()
  private var members = PendingMembers()
  /// What scalars were, where that is recorded.
  var values: PendingValues?
  /// What completes the write; nil where nobody keeps books on the file.
  private let companion: (any CommitCompanion)?
  /// For the companion; nil without one.
  var notes: CommitNotes?
  private var isCompleted = false
  private var savepoints:
    [(changes: PendingChanges, members: PendingMembers, letGo: Set<ObjectPlace>, values: PendingValues?, notes: CommitNotes?)] = []
  private var changedCatalog = false
  /// Relationships by the table they point to; made when first needed, dropped with the catalog.
  private var incoming: [TableID: [IncomingRelationship]]?
  private var knownOwnership: Ownership?
  private var knownDerivations: Derivations?
  /// Derived properties that are to be computed.
  var underived: [DerivedPlace: PendingDerivation] = [:]
  private var knownRules: Bool?
  private var knownDerives: Bool?
  /// The table that was added to last, where adding to it is adding to storage and no more: no mixed values, nothing that
  /// follows from others, no values in the history. Asked for every object of a bulk load.
  private var plainTable: TableID?
  /// What lost an owner in this write; the commit looks who is left without any.
  var letGo: Set<ObjectPlace> = []
  /// The table that was asked for last: objects are mostly deleted many of a type.
  private var lastIncoming: (table: TableID, relationships: [IncomingRelationship])?
  private var lastMixed: (table: TableID, slots: [Int])?

  /// What was committed, with its version; nil before that.
  package private(set) var committed: CommitRecord?

  /// - Parameter origin: tells this store's commits apart from others', see `CommitRecord.origin`.
  /// - Parameter recordsValues: whether the record says what scalars were and are. Costs a read for each that is set first,
  ///   and room in the history.
  public convenience init(_ transaction: any WriteTransaction, origin: UInt64, recordsValues: Bool = false) {
    self.init(transaction, origin: origin, recordsValues: recordsValues, followsRules: true, companion: nil)
  }

  /// - Parameters:
  ///   - followsRules: false for changes that others made, who followed the rules themselves.
  ///   - companion: what completes the write.
  package init(
    _ transaction: any WriteTransaction, origin: UInt64, recordsValues: Bool, followsRules: Bool, companion: (any CommitCompanion)?
  ) {
    self.transaction = transaction
    self.companion = companion
    notes = companion == nil ? nil : CommitNotes()
    self.followsRules = followsRules
    self.origin = origin
    values = recordsValues || companion != nil ? PendingValues(areRecorded: recordsValues) : nil
  }

  /// Whether anything was changed so far.
  public var isEmpty: Bool { changes.isEmpty && !changedCatalog }

  /// The delete rules of the catalog.
  var ownership: Ownership {
    if let knownOwnership { return knownOwnership }
    let made = Ownership(transaction.catalog, isEmbeddingAlone: !followsRules)
    knownOwnership = made
    return made
  }

  /// The derived properties of the catalog.
  var derivations: Derivations {
    if let knownDerivations { return knownDerivations }
    let made = Derivations(transaction.catalog)
    knownDerivations = made
    return made
  }

  /// The relationship of a column that owns what it points to. A flag, asked by every set, where no type has any.
  func owning(_ column: ColumnID) -> Relationship? {
    hasRules ? ownership.columns[column] : nil
  }

  /// Whether anything follows from other properties. A flag, asked by every set: the derivations themselves are not copied for it.
  var derives: Bool {
    if let knownDerives { return knownDerives }
    let derives = !derivations.isEmpty
    knownDerives = derives
    return derives
  }

  /// Whether any type owns others or denies deletes.
  var hasRules: Bool {
    if let knownRules { return knownRules }
    let hasRules = !ownership.isEmpty || !ownership.denying.isEmpty
    knownRules = hasRules
    return hasRules
  }

  /// The net changes so far, without version, author and time. O(changes · log changes).
  public var record: CommitRecord {
    var tables = changes.tableChanges()
    members.merge(into: &tables)
    return CommitRecord(origin: origin, changedCatalog: changedCatalog, tables: tables)
  }
}

// MARK: - Objects

extension RecordedTransaction {
  /// Runs `body` and says which objects it deleted, and of which it set a property. Derived ones follow later.
  package func touching(_ body: () throws(StorageError) -> Void) throws(StorageError) -> Set<ObjectPlace> {
    changes.touched = []
    defer { changes.touched = nil }
    try body()
    return changes.touched ?? []
  }

  /// Adds an object. See `WriteTransaction.insert`.
  public func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    if plainTable != row.table {
      if !mixedSlots(of: row.table).isEmpty { try clean(row) }
      if mixedSlots(of: row.table).isEmpty, !derives, values?.areRecorded != true { plainTable = row.table }
    }
    let key = try transaction.insert(row)
    changes.insert(row.table, key)
    if plainTable == row.table { return key }
    values?.insert(ObjectPlace(table: row.table, key: key.rawValue))
    try noteInsertion(row.table, key)
    return key
  }

  /// Removes an object, with what it alone owns, after taking it out of every link and list that points to it.
  /// O(incoming links). `.deleteDenied`, of scope statement, when a delete rule forbids it; then nothing was deleted.
  public func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    guard try transaction.contains(table, key) else {
      throw StorageError(.objectDeleted, .statement, "There is no object \(key) in table \(table.rawValue).")
    }
    if !hasRules { return try deleteAlone(table, key) }
    for place in try doomed(by: ObjectPlace(table: table, key: key.rawValue)) {
      try deleteAlone(place.table, ObjectKey(place.key))
    }
  }

  /// Removes those objects of a type that live, all in one call of the engine. Returns false, and has done nothing, where
  /// more follows from a delete than that the object is gone: links or collections that may point to it, what it owns,
  /// derived properties, values to be recorded. Then it is `delete`, object by object.
  public func deletePlainly(_ table: TableID, _ keys: [Int64]) throws(StorageError) -> Bool {
    if hasRules, ownership.owning[table] != nil || ownership.denying[table] != nil { return false }
    return try deleteAlone(table, all: keys)
  }

  /// As `deletePlainly`, whatever the delete rules say: for emptying a store.
  public func deleteAlone(_ table: TableID, all keys: [Int64]) throws(StorageError) -> Bool {
    guard values == nil, notes == nil, derivations.isEmpty, relationships(to: table).isEmpty else { return false }
    changes.delete(table, try transaction.delete(table, all: keys))
    return true
  }

  /// Removes an object that is there and nothing else, whatever the delete rules say: for emptying a store.
  public func deleteAlone(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    try noteDeletion(table, key)
    for relationship in relationships(to: table) { try nullify(relationship, target: key, of: table) }
    if values?.areRecorded == true { try noteValues(of: table, key) }
    if notes != nil, let primaryKey = transaction.catalog[table]?.primaryKey {
      let value = try transaction.value(ColumnID(table, primaryKey.id), key)
      notes?.delete(ObjectPlace(table: table, key: key.rawValue), primaryKey: value)
    }
    try transaction.delete(table, key)
    changes.delete(table, key)
  }

  /// Edits a list. Edits that cannot change anything (an empty insertion, clearing an empty list, moving an
  /// element to its own place) are not recorded.
  public func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    let edit = try living(edit)
    let isIdle: Bool
    switch edit {
    case .clear: isIdle = try transaction.elementCount(column, owner) == 0
    case .insert(_, let values): isIdle = values.isEmpty
    case .remove(let range): isIdle = range.isEmpty
    case .move(let from, let to): isIdle = from == to
    case .set: isIdle = false
    }
    if let owned = owning(column) { try willEdit(owned, owner, edit) }
    let lost = try derivedLosses(of: column, owner, edit)
    try transaction.edit(column, owner, edit)
    try noteEdit(column, owner, lost: lost, gained: edit.linkedKeys)
    if !isIdle { changes.edit(column, owner, ListChange.Edit(edit)) }
  }

  /// Notes what happened to a member of a set or a key of a map.
  func recordMember(
    _ kind: MemberChange.Kind, _ member: Value, isMap: Bool, _ column: ColumnID, _ owner: ObjectKey
  ) {
    changes.modify(column, owner)
    members.add(kind, member, isMap: isMap, column, owner)
  }

  /// Changes the catalog. See `WriteTransaction.setCatalog`.
  public func setCatalog(_ catalog: Catalog) throws(StorageError) {
    try transaction.setCatalog(catalog)
    changedCatalog = true
    incoming = nil
    knownOwnership = nil
    knownDerivations = nil
    knownRules = nil
    knownDerives = nil
    plainTable = nil
    lastIncoming = nil
    lastMixed = nil
  }

  /// Where a table's rows have mixed values.
  func mixedSlots(of table: TableID) -> [Int] {
    if let last = lastMixed, last.table == table { return last.slots }
    let columns = transaction.catalog[table]?.columns ?? []
    let slots = columns.indices.filter { columns[$0].schema.kind == .scalar(.mixed) }
    lastMixed = (table, slots)
    return slots
  }
}

// MARK: - Links

/// A relationship, seen from the type it points to.
private struct IncomingRelationship {
  let column: ColumnID
  let schema: PropertySchema
}

extension RecordedTransaction {
  private func relationships(to table: TableID) -> [IncomingRelationship] {
    if let last = lastIncoming, last.table == table { return last.relationships }
    let found = allRelationships()[table] ?? []
    lastIncoming = (table, found)
    return found
  }

  private func allRelationships() -> [TableID: [IncomingRelationship]] {
    if let incoming { return incoming }
    var found: [TableID: [IncomingRelationship]] = [:]
    let catalog = transaction.catalog
    for source in catalog.tables {
      for column in source.columns where column.schema.isStored && column.schema.valueType?.mayLink == true {
        let relationship = IncomingRelationship(column: source.column(column.id), schema: column.schema)
        // A mixed property may point to any type.
        let targets = column.schema.isRelationship ? [column.schema.target.flatMap { catalog[$0]?.id }] : catalog.tables.map(\.id)
        for case let target? in targets { found[target, default: []].append(relationship) }
      }
    }
    incoming = found
    return found
  }

  private func nullify(_ relationship: IncomingRelationship, target: ObjectKey, of table: TableID) throws(StorageError) {
    var sources: [Int64] = []
    let link = ObjectLink(table, target)
    func collect(_ keys: UnsafeBufferPointer<Int64>) -> Step {
      for key in keys where sources.last != key { sources.append(key) }
      return .proceed
    }
    if relationship.schema.isRelationship {
      try transaction.sources(of: target, through: relationship.column, collect)
    } else {
      try transaction.sources(of: link, through: relationship.column, collect)
    }
    for source in sources {
      if !relationship.schema.isRelationship || relationship.schema.isSet || relationship.schema.isMap {
        try nullify(relationship.column, relationship.schema, link, in: ObjectKey(source))
      } else if relationship.schema.isList {
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
  /// Begins a point to go back to; they nest. What derived values are to become is settled first.
  public func beginSavepoint() throws(StorageError) {
    // What is undone with the savepoint must not be what an earlier edit left to be computed.
    try settleDerived()
    try transaction.beginSavepoint()
    savepoints.append((changes, members, letGo, values, notes))
  }

  /// Ends the innermost savepoint, and keeps what was done since.
  public func releaseSavepoint() throws(StorageError) {
    try transaction.releaseSavepoint()
    if !savepoints.isEmpty { savepoints.removeLast() }
  }

  /// Undoes data and record alike: what was rolled back is in nobody's notification.
  public func rollbackToSavepoint() throws(StorageError) {
    try transaction.rollbackToSavepoint()
    if let before = savepoints.popLast() { (changes, members, letGo, values, notes) = before }
    // Nothing was left to be computed when the savepoint began.
    underived = [:]
  }

  /// Commits data and record together, after removing what nothing owns any more. The transaction is over, whether this
  /// throws or not.
  public func commit(
    author: String?, timeMilliseconds: Int64, _ durability: Durability
  ) throws(StorageError) -> Version {
    try complete()
    var record = record
    record.author = author
    record.timeMilliseconds = timeMilliseconds
    do throws(StorageError) { record.values = try changedValues() } catch {
      transaction.end()
      throw error
    }
    record.version = try transaction.commit(record, durability)
    committed = record
    return record.version
  }

  /// Does what follows from the changes before they are committed, so that `record` has all of it. When it throws, the
  /// transaction is over.
  public func complete() throws(StorageError) {
    if isCompleted { return }
    isCompleted = true
    do throws(StorageError) {
      // What was replicated is sent to others by whoever wrote it.
      if companion == nil, followsRules, transaction.catalog.hasSideEntries { throw .unaccompanied }
      try removeOrphans()
      try settleDerived()
      guard let companion, let notes else { return }
      try companion.complete(self, record, notes)
      try removeOrphans()
      try settleDerived()
    } catch {
      transaction.end()
      throw error
    }
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

extension Value {
  /// The object that a plain link leads to.
  var linkedKey: Int64? {
    if case .link(let key) = self { key.rawValue } else { nil }
  }

  /// A word as it is stored; nil is null.
  init(word: Int64?, as type: ValueType) {
    self = word.flatMap { Value(word: $0, type: type) } ?? .null
  }
}

extension ElementEdit {
  /// The positions whose elements go; nil where none do. Positions outside of the list are the edit's to refuse.
  var lostRange: Range<Int>? {
    let range: Range<Int>
    switch self {
    case .insert, .move: return nil
    case .set(let at, _):
      guard at < Int.max else { return nil }
      range = at..<at + 1
    case .remove(let removed): range = removed
    case .clear: range = 0..<Int.max
    }
    return range.lowerBound >= 0 && !range.isEmpty ? range : nil
  }

  /// The objects that come, as often as they do.
  var linkedKeys: [Int64] { given.compactMap(\.linkedKey) }
}
