import StorageInterface
import StoreValues

/// One version of a store as plain values: what every engine must agree with. A snapshot is a copy of it.
struct ReferenceState: Sendable {
  var version = Version(0)
  var catalog = Catalog()
  var tables: [TableID: ReferenceTable] = [:]
  /// Entries of each index, sorted by values and then key.
  var indexes: [IndexID: [ReferenceEntry]] = [:]
  /// For each relationship and target the keys of the owners, ascending, as often as they point there.
  /// The targets of links whose property says the type have table 0.
  var backlinks: [ColumnID: [ObjectLink: [Int64]]] = [:]
  /// The last key that was given out in each table.
  var issued: [TableID: Int64] = [:]
  /// Ascending by version, no gaps, the last is `version`.
  var history: [CommitRecord] = []
  /// Side entries.
  var sides: [[UInt8]: [UInt8]] = [:]

  init() {}
}

/// The objects of one type.
struct ReferenceTable: Sendable {
  /// Ascending: keys are given out in that order.
  var keys: [Int64] = []
  var rows: [Int64: ReferenceRow] = [:]
}

/// One object. A property that is not in `scalars` reads as its column's absent value, one that is not in
/// `lists` as an empty list, one not in `maps` as an empty map.
struct ReferenceRow: Sendable, Hashable {
  var scalars: [PropertyID: Value] = [:]
  /// Of lists and sets; the members of a set in their order.
  var lists: [PropertyID: [Value]] = [:]
  /// In the order of the keys.
  var maps: [PropertyID: ValueMap] = [:]
}

/// One entry of an index.
struct ReferenceEntry: Sendable {
  var values: [Value]
  var key: Int64

  /// By values, then by key.
  static func precedes(_ a: ReferenceEntry, _ b: ReferenceEntry) -> Bool {
    switch order(a.values, b.values) {
    case .before: true
    case .after: false
    case .same: a.key < b.key
    }
  }

  /// The order of tuples, by their first difference; over as many values as both have.
  static func order(_ a: [Value], _ b: [Value]) -> Value.Order {
    for (x, y) in zip(a, b) {
      let order = x.order(to: y)
      if order != .same { return order }
    }
    return .same
  }
}

extension StorageError {
  static func misuse(_ message: String) -> StorageError { StorageError(.misuse, .statement, message) }
}

extension ReferenceState {
  func entry(_ id: TableID) throws(StorageError) -> TableEntry {
    guard let entry = catalog[id] else { throw .misuse("There is no table \(id.rawValue).") }
    return entry
  }

  func column(_ id: ColumnID) throws(StorageError) -> ColumnEntry {
    guard let entry = catalog[id] else {
      throw .misuse("There is no column \(id.property.rawValue) in table \(id.table.rawValue).")
    }
    return entry
  }

  func scalarType(_ id: ColumnID) throws(StorageError) -> (ColumnEntry, ValueType) {
    let entry = try column(id)
    guard case .scalar(let type) = entry.schema.kind else { throw .misuse("'\(entry.schema.name)' is no scalar.") }
    return (entry, type)
  }

  func listType(_ id: ColumnID) throws(StorageError) -> (ColumnEntry, ValueType) {
    let entry = try column(id)
    guard case .list(let type) = entry.schema.kind else { throw .misuse("'\(entry.schema.name)' is no list.") }
    return (entry, type)
  }

  /// A list, set or map and the type of its elements.
  func collectionType(_ id: ColumnID) throws(StorageError) -> (ColumnEntry, ValueType) {
    let entry = try column(id)
    guard entry.schema.isCollection, let type = entry.schema.valueType else {
      throw .misuse("'\(entry.schema.name)' is no collection.")
    }
    return (entry, type)
  }

  func setType(_ id: ColumnID) throws(StorageError) -> (ColumnEntry, ValueType) {
    let entry = try column(id)
    guard case .set(let type) = entry.schema.kind else { throw .misuse("'\(entry.schema.name)' is no set.") }
    return (entry, type)
  }

  func mapType(_ id: ColumnID) throws(StorageError) -> (ColumnEntry, ValueType) {
    let entry = try column(id)
    guard case .map(let type) = entry.schema.kind else { throw .misuse("'\(entry.schema.name)' is no map.") }
    return (entry, type)
  }

  func row(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> ReferenceRow {
    let entry = try self.entry(table)
    guard let row = tables[table]?.rows[key.rawValue] else {
      throw StorageError(.objectDeleted, .statement, "There is no object \(key) in '\(entry.name)'.")
    }
    return row
  }

  func index(_ id: IndexID) throws(StorageError) -> (TableEntry, IndexEntry) {
    for table in catalog.tables {
      if let index = table.indexes.first(where: { $0.id == id }) { return (table, index) }
    }
    throw .misuse("There is no index \(id.rawValue).")
  }
}
