import StorageInterface
import StoreValues

/// A write transaction that records every change. All objects are written through it, so the commit record in the file is
/// complete by construction.
///
/// It adds rules that storage leaves to the level above: setting an equal value is not a change, a deleted object is first
/// removed from every link and list that points to it, and objects that it alone owns are deleted with it.
///
/// Confined to its owner, like the transaction it wraps. Errors are the transaction's, unchanged.
public final class RecordedTransaction {
  /// For reading. Changes made directly in it are not recorded, so nobody is notified of them.
  public let transaction: any WriteTransaction
  private let origin: UInt64
  /// Whether declared delete rules apply. Embedded objects are always deleted with their owner.
  private let followsRules: Bool
  /// What has been recorded, since the last savepoint if one is open.
  var part = RecordedPart()
  /// Completes the write; nil if the file has none.
  private let companion: (any CommitCompanion)?
  private var isCompleted = false
  /// An increment is being set, which is noted as such.
  var isAdding = false
  /// What was recorded before each open savepoint: so a savepoint costs what happens in it, and not what happened before.
  private var savepoints: [RecordedPart] = []
  private var changedCatalog = false
  /// The catalog from before the write; nil if the write did not change it.
  package private(set) var catalogBefore: Catalog?
  /// Relationships by target table; computed on demand, dropped with the catalog.
  var incoming: [TableID: [IncomingRelationship]]?
  private var knownOwnership: Ownership?
  private var knownDerivations: Derivations?
  /// Derived properties that must be computed.
  var underived: [DerivedPlace: PendingDerivation] = [:]
  private var knownRules: Bool?
  private var knownDerives: Bool?
  /// The last table inserted into, if inserting needs nothing besides storage: no mixed values, no derived properties, no
  /// recorded values. Checked for every object of a bulk load.
  private var plainTable: TableID?
  /// The table looked up last: mostly many objects of one type are deleted in a row.
  var lastIncoming: (table: TableID, relationships: [IncomingRelationship])?
  private var lastMixed: (table: TableID, slots: [Int])?
  /// Where the elements of long lists are, from which deleted objects are removed.
  var elementPlaces = ElementPlacesCache()

  /// The committed record and its version; nil before the commit.
  package private(set) var committed: CommitRecord?

  /// - Parameter origin: distinguishes this store's commits from others', see `CommitRecord.origin`.
  /// - Parameter recordsValues: whether the record includes old and new values of scalars. Costs a read for the first set of
  ///   each, and space in the history.
  public convenience init(_ transaction: any WriteTransaction, origin: UInt64, recordsValues: Bool = false) {
    self.init(transaction, origin: origin, recordsValues: recordsValues, followsRules: true, companion: nil)
  }

  /// - Parameters:
  /// - followsRules: false for changes of others, who applied the rules themselves.
  /// - companion: completes the write.
  package init(
    _ transaction: any WriteTransaction, origin: UInt64, recordsValues: Bool, followsRules: Bool, companion: (any CommitCompanion)?
  ) {
    self.transaction = transaction
    self.companion = companion
    part.notes = companion == nil ? nil : CommitNotes()
    self.followsRules = followsRules
    self.origin = origin
    part.values = recordsValues || companion != nil ? PendingValues(areRecorded: recordsValues) : nil
  }

  /// Whether there are no changes so far.
  public var isEmpty: Bool { part.changes.isEmpty && !changedCatalog && savepoints.allSatisfy(\.changes.isEmpty) }

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

  /// The relationship of a column if it owns its targets. Called by every set: checks only a flag if no type has rules.
  func owning(_ column: ColumnID) -> Relationship? {
    hasRules ? ownership.columns[column] : nil
  }

  /// Whether any property is derived. A flag, checked by every set without copying the derivations.
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
    var whole = savepoints.first ?? part
    for later in savepoints.dropFirst() { whole.add(later) }
    if !savepoints.isEmpty { whole.add(part) }
    var tables = whole.changes.tableChanges()
    whole.members.merge(into: &tables)
    return CommitRecord(origin: origin, changedCatalog: changedCatalog, tables: tables)
  }
}

// MARK: - Objects

extension RecordedTransaction {
  /// Runs `body` and returns the objects it deleted or set properties of, without derived ones, which are computed later.
  package func touching(_ body: () throws(StorageError) -> Void) throws(StorageError) -> Set<ObjectPlace> {
    part.changes.touched = []
    defer { part.changes.touched = nil }
    try body()
    return part.changes.touched ?? []
  }

  /// Adds an object. See `WriteTransaction.insert`.
  public func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    if plainTable != row.table {
      if !mixedSlots(of: row.table).isEmpty { try clean(row) }
      if mixedSlots(of: row.table).isEmpty, !derives, part.values?.areRecorded != true { plainTable = row.table }
    }
    let key = try transaction.insert(row)
    part.changes.insert(row.table, key)
    if plainTable == row.table { return key }
    part.values?.insert(ObjectPlace(table: row.table, key: key.rawValue))
    try noteInsertion(row.table, key)
    return key
  }

  /// Deletes an object and those it alone owns, after removing it from every link and list that points to it. O(incoming
  /// links). `.deleteDenied`, of scope statement, if a delete rule forbids it; then nothing was deleted.
  public func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    guard try transaction.contains(table, key) else {
      throw StorageError(.objectDeleted, .statement, "There is no object \(key) in table \(table.rawValue).")
    }
    if !hasRules { return try deleteAlone(table, key) }
    for place in try doomed(by: ObjectPlace(table: table, key: key.rawValue)) {
      try deleteAlone(place.table, ObjectKey(place.key))
    }
  }

  /// Deletes the existing ones of the given objects in one engine call, after removing them from every link and collection that points
  /// to them. Returns false, having done nothing, if a delete has further consequences: owned objects, derived properties, recorded
  /// values. Then call `delete` for each object.
  public func deletePlainly(_ table: TableID, _ keys: [Int64]) throws(StorageError) -> Bool {
    if hasRules, ownership.owning[table] != nil || ownership.denying[table] != nil { return false }
    return try deleteAlone(table, all: keys)
  }

  /// As `deletePlainly`, but ignores delete rules: for emptying a store.
  public func deleteAlone(_ table: TableID, all keys: [Int64]) throws(StorageError) -> Bool {
    guard part.values == nil, part.notes == nil, derivations.isEmpty else { return false }
    if keys.isEmpty { return true }
    if relationships(to: table).isEmpty {
      part.changes.delete(table, try transaction.delete(table, all: keys))
      return true
    }
    let doomed = KeyRuns(keys)
    do throws(StorageError) {
      try unlink(doomed, of: table)
      part.changes.delete(table, try transaction.delete(table, all: Array(doomed)))
    } catch {
      // Links are gone, and the objects are there.
      var error = error
      if error.scope == .statement { error.scope = .transaction }
      throw error
    }
    return true
  }

  /// Deletes one existing object and nothing else, ignoring delete rules: for emptying a store.
  public func deleteAlone(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    try noteDeletion(table, key)
    for relationship in relationships(to: table) { try nullify(relationship, target: key, of: table) }
    if part.values?.areRecorded == true { try noteValues(of: table, key) }
    if part.notes != nil, let primaryKey = transaction.catalog[table]?.primaryKey {
      let value = try transaction.value(ColumnID(table, primaryKey.id), key)
      part.notes?.delete(ObjectPlace(table: table, key: key.rawValue), primaryKey: value)
    }
    try transaction.delete(table, key)
    part.changes.delete(table, key)
  }

  /// Edits a list. Edits that change nothing (an empty insertion, clearing an empty list, moving an element to its own place)
  /// are not recorded.
  public func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    elementPlaces.remove(ElementPlacesCache.List(column: column, owner: owner))
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
    if !isIdle { part.changes.edit(column, owner, ListChange.Edit(edit)) }
  }

  /// Records a change of a member of a set or a key of a map.
  func recordMember(
    _ kind: MemberChange.Kind, _ member: Value, isMap: Bool, _ column: ColumnID, _ owner: ObjectKey
  ) {
    part.changes.modify(column, owner)
    part.members.add(kind, member, isMap: isMap, column, owner)
  }

  /// Changes the catalog. See `WriteTransaction.setCatalog`.
  public func setCatalog(_ catalog: Catalog) throws(StorageError) {
    let before = transaction.catalog
    try transaction.setCatalog(catalog)
    if !changedCatalog { catalogBefore = before }
    changedCatalog = true
    incoming = nil
    knownOwnership = nil
    knownDerivations = nil
    knownRules = nil
    knownDerives = nil
    plainTable = nil
    lastIncoming = nil
    lastMixed = nil
    elementPlaces = ElementPlacesCache()
  }

  /// The slots of a table's mixed scalars.
  func mixedSlots(of table: TableID) -> [Int] {
    if let last = lastMixed, last.table == table { return last.slots }
    let columns = transaction.catalog[table]?.columns ?? []
    let slots = columns.indices.filter { columns[$0].schema.kind == .scalar(.mixed) }
    lastMixed = (table, slots)
    return slots
  }
}

// MARK: - Savepoints and the end

extension RecordedTransaction {
  /// Begins a savepoint; savepoints nest. Computes pending derived values first.
  public func beginSavepoint() throws(StorageError) {
    // Otherwise undoing the savepoint would also undo the computations for earlier edits.
    try settleDerived()
    try transaction.beginSavepoint()
    savepoints.append(part)
    part = part.empty
  }

  /// Ends the innermost savepoint, and keeps the changes made since.
  public func releaseSavepoint() throws(StorageError) {
    try transaction.releaseSavepoint()
    guard var before = savepoints.popLast() else { return }
    before.add(part)
    part = before
  }

  /// Undoes data and record alike: nobody is notified of the undone changes.
  public func rollbackToSavepoint() throws(StorageError) {
    try transaction.rollbackToSavepoint()
    elementPlaces = ElementPlacesCache()
    if let before = savepoints.popLast() { part = before }
    // Nothing was pending when the savepoint began.
    underived = [:]
  }

  /// Commits data and record together, after deleting objects without owners. The transaction is over, even if this throws.
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

  /// Applies the consequences of the changes before the commit, so that `record` includes them. If it throws, the transaction
  /// is over.
  public func complete() throws(StorageError) {
    if isCompleted { return }
    isCompleted = true
    do throws(StorageError) {
      // A replicated file needs a companion that sends the changes to other replicas.
      if companion == nil, followsRules, transaction.catalog.hasSideEntries { throw .unaccompanied }
      try removeOrphans()
      try settleDerived()
      guard let companion, let notes = part.notes else { return }
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
  /// The target of a plain link.
  var linkedKey: Int64? {
    if case .link(let key) = self { key.rawValue } else { nil }
  }

  /// A value from its stored word; nil is null.
  init(word: Int64?, as type: ValueType) {
    self = word.flatMap { Value(word: $0, type: type) } ?? .null
  }
}

extension ElementEdit {
  /// The positions of the removed elements; nil if there are none. The edit itself rejects positions outside the list.
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

  /// The added objects, with repetitions.
  var linkedKeys: [Int64] { given.compactMap(\.linkedKey) }
}
