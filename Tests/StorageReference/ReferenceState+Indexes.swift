import StorageInterface
import StoreValues

extension ReferenceState {
  func values(of index: IndexEntry, _ row: ReferenceRow, _ table: TableEntry) -> [Value] {
    index.properties.map { row.scalars[$0] ?? table[$0]?.absentValue ?? .null }
  }

  /// Throws when another object than `key` has the values. Two nulls are not the same: an entry with a null
  /// never conflicts.
  func checkUnique(_ index: IndexEntry, _ values: [Value], _ key: Int64) throws(StorageError) {
    guard index.isUnique, !values.contains(where: \.isNull) else { return }
    let entries = indexes[index.id] ?? []
    let start = entries.firstPosition { ReferenceEntry.order($0.values, values) != .before }
    for entry in entries[start...] {
      if ReferenceEntry.order(entry.values, values) != .same { return }
      if entry.key != key {
        throw StorageError(
          .uniqueViolation, .statement, "Object #\(entry.key) has \(values) already.", index: index.id,
          conflictingKey: ObjectKey(entry.key))
      }
    }
  }

  mutating func enter(_ index: IndexEntry, _ values: [Value], _ key: Int64) {
    let entry = ReferenceEntry(values: values, key: key)
    let position = (indexes[index.id] ?? []).firstPosition { !ReferenceEntry.precedes($0, entry) }
    indexes[index.id, default: []].insert(entry, at: position)
  }

  mutating func leave(_ index: IndexEntry, _ values: [Value], _ key: Int64) {
    let entry = ReferenceEntry(values: values, key: key)
    let entries = indexes[index.id] ?? []
    let position = entries.firstPosition { !ReferenceEntry.precedes($0, entry) }
    if position < entries.count, entries[position].key == key { indexes[index.id]?.remove(at: position) }
  }

  /// Takes over a catalog: fills the indexes that are new, drops the ones that are gone.
  mutating func adopt(_ new: Catalog) throws(StorageError) {
    catalog = new
    var kept: Set<IndexID> = []
    for table in new.tables {
      for index in table.indexes {
        kept.insert(index.id)
        if indexes[index.id] == nil { try fill(index, of: table) }
      }
    }
    indexes = indexes.filter { kept.contains($0.key) }
  }

  private mutating func fill(_ index: IndexEntry, of table: TableEntry) throws(StorageError) {
    indexes[index.id] = []
    let content = tables[table.id] ?? ReferenceTable()
    for key in content.keys {
      guard let row = content.rows[key] else { continue }
      do {
        try checkUnique(index, values(of: index, row, table), key)
      } catch {
        var spoiled = error
        spoiled.scope = .transaction
        throw spoiled
      }
      enter(index, values(of: index, row, table), key)
    }
  }
}
