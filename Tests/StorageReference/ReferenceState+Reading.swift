import StorageInterface
import StoreValues

extension ReferenceState {
  func value(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> (Value, ValueType) {
    let (entry, type) = try scalarType(column)
    return (try row(column.table, key).scalars[column.property] ?? entry.absentValue, type)
  }

  func list(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> ([Value], ValueType) {
    let (entry, type) = try collectionType(column)
    let row = try row(column.table, owner)
    if entry.schema.isMap { return (row.maps[column.property]?.entries.map(\.value) ?? [], type) }
    return (row.lists[column.property] ?? [], type)
  }

  func map(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> ValueMap {
    _ = try mapType(column)
    return try row(column.table, owner).maps[column.property] ?? ValueMap()
  }

  func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    let (entry, _) = try collectionType(column)
    if entry.schema.isMap {
      return try map(column, owner).entries.firstIndex { Value.string($0.key) == value }
    }
    _ = try setType(column)
    return try list(column, owner).0.firstIndex { $0.order(to: value) == .same }
  }

  /// Keys of the entries in the range, in index order.
  func keys(in id: IndexID, _ range: IndexRange) throws(StorageError) -> [Int64] {
    let (_, index) = try self.index(id)
    let bounded = range.lower != .unbounded || range.upper != .unbounded
    guard range.equal.count + (bounded ? 1 : 0) <= index.properties.count else {
      throw .misuse("The range has more values than index \(id.rawValue) has columns.")
    }
    return (indexes[id] ?? []).filter { range.contains($0.values) }.map(\.key)
  }

  func sources(of target: ObjectKey, through column: ColumnID) throws(StorageError) -> [Int64] {
    let entry = try self.column(column)
    guard entry.schema.isRelationship else { throw .misuse("'\(entry.schema.name)' is no relationship.") }
    return backlinks[column]?[ObjectLink(TableID(0), target)] ?? []
  }

  func sources(of target: ObjectLink, through column: ColumnID) throws(StorageError) -> [Int64] {
    let entry = try self.column(column)
    if entry.schema.valueType == .mixed { return backlinks[column]?[target] ?? [] }
    guard entry.schema.isRelationship else { throw .misuse("'\(entry.schema.name)' is no relationship.") }
    return catalog[target.table]?.name == entry.schema.target ? try sources(of: target.key, through: column) : []
  }

  func history(after version: Version) throws(StorageError) -> [CommitRecord] {
    guard version < self.version else { return [] }
    let records = history.filter { $0.version > version }
    guard records.first?.version == version.next else {
      throw StorageError(.historyTrimmed, .statement, "The commit record of \(version.next) is gone.")
    }
    return records
  }
}

extension IndexRange {
  /// Whether an entry with these values is in the range.
  func contains(_ values: [Value]) -> Bool {
    guard ReferenceEntry.order(values, equal) == .same else { return false }
    guard equal.count < values.count else { return true }
    let next = values[equal.count]
    switch lower {
    case .unbounded: break
    case .including(let bound): if next.order(to: bound) == .before { return false }
    case .excluding(let bound): if next.order(to: bound) != .after { return false }
    }
    switch upper {
    case .unbounded: break
    case .including(let bound): if next.order(to: bound) == .after { return false }
    case .excluding(let bound): if next.order(to: bound) != .before { return false }
    }
    return true
  }
}
