import StorageInterface
import StoreValues

/// Every change checks first and changes afterwards, so that a call that throws did nothing.
extension ReferenceState {
  mutating func insert(_ table: TableID, _ key: Int64, _ scalars: [PropertyID: Value]) throws(StorageError) {
    let entry = try self.entry(table)
    for column in entry.columns {
      guard case .scalar(let type) = column.schema.kind else { continue }
      try ReferenceState.check(scalars[column.id] ?? column.absentValue, column, type)
    }
    let row = ReferenceRow(scalars: scalars)
    for index in entry.indexes { try checkUnique(index, values(of: index, row, entry), key) }
    tables[table, default: ReferenceTable()].keys.append(key)
    tables[table]?.rows[key] = row
    for index in entry.indexes { enter(index, values(of: index, row, entry), key) }
    for column in entry.columns where column.schema.isScalar && column.schema.valueType?.mayLink == true {
      link(entry.column(column.id), key, from: .null, to: scalars[column.id] ?? .null)
    }
  }

  mutating func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    let entry = try self.entry(table)
    let row = try self.row(table, key)
    for index in entry.indexes { leave(index, values(of: index, row, entry), key.rawValue) }
    for column in entry.columns where column.schema.isStored && column.schema.valueType?.mayLink == true {
      let id = entry.column(column.id)
      link(id, key.rawValue, from: row.scalars[column.id] ?? .null, to: .null)
      for element in row.lists[column.id] ?? [] { link(id, key.rawValue, from: element, to: .null) }
      for entry in row.maps[column.id]?.entries ?? [] { link(id, key.rawValue, from: entry.value, to: .null) }
    }
    tables[table]?.rows[key.rawValue] = nil
    if let position = tables[table]?.keys.firstPosition(where: { $0 >= key.rawValue }) {
      tables[table]?.keys.remove(at: position)
    }
  }

  /// Returns whether another value was there, to the bit.
  mutating func set(_ column: ColumnID, _ key: ObjectKey, _ value: Value) throws(StorageError) -> Bool {
    let entry = try self.entry(column.table)
    let (columnEntry, type) = try scalarType(column)
    let row = try self.row(column.table, key)
    try ReferenceState.check(value, columnEntry, type)
    // As it is read: an object that is older than the property has its zero.
    let isOther = try !ReferenceState.isSame(self.value(column, key).0, value, type)
    var changed = row
    changed.scalars[column.property] = value
    let touched = entry.indexes.filter { $0.properties.contains(column.property) }
    for index in touched { try checkUnique(index, values(of: index, changed, entry), key.rawValue) }
    for index in touched {
      leave(index, values(of: index, row, entry), key.rawValue)
      enter(index, values(of: index, changed, entry), key.rawValue)
    }
    if type.mayLink { link(column, key.rawValue, from: row.scalars[column.property] ?? .null, to: value) }
    tables[column.table]?.rows[key.rawValue]?.scalars[column.property] = value
    return isOther
  }

  private static func isSame(_ old: Value, _ new: Value, _ type: ValueType) throws(StorageError) -> Bool {
    if old.isNull || new.isNull { return old.isNull && new.isNull }
    if type.isWord { return old.word == new.word }
    return try old.withBytes(as: type) { old throws(StorageError) in
      try new.withBytes(as: type) { new throws(StorageError) in
        guard let old, let new else { return old == nil && new == nil }
        return old.elementsEqual(new)
      }
    }
  }

  mutating func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    let (entry, type) = edit == .clear ? try collectionType(column) : try listType(column)
    let old = try list(column, owner).0
    var new = old
    switch edit {
    case .insert(let position, let values):
      try ReferenceState.check(position >= 0 && position <= old.count, position, old.count)
      for value in values { try ReferenceState.check(value, entry, type) }
      new.insert(contentsOf: values, at: position)
    case .remove(let range):
      try ReferenceState.check(range.lowerBound >= 0 && range.upperBound <= old.count, range.upperBound, old.count)
      new.removeSubrange(range)
    case .set(let position, let value):
      try ReferenceState.check(old.indices.contains(position), position, old.count)
      try ReferenceState.check(value, entry, type)
      new[position] = value
    case .move(let from, let to):
      try ReferenceState.check(old.indices.contains(from), from, old.count)
      try ReferenceState.check(old.indices.contains(to), to, old.count)
      new.insert(new.remove(at: from), at: to)
    case .clear:
      new = []
    }
    if type.mayLink {
      for element in old { link(column, owner.rawValue, from: element, to: .null) }
      for element in new { link(column, owner.rawValue, from: .null, to: element) }
    }
    if entry.schema.isMap {
      tables[column.table]?.rows[owner.rawValue]?.maps[column.property] = nil
    } else {
      tables[column.table]?.rows[owner.rawValue]?.lists[column.property] = new
    }
  }

  private static func check(_ inRange: Bool, _ position: Int, _ count: Int) throws(StorageError) {
    if !inRange {
      throw StorageError(.indexOutOfRange, .statement, "Position \(position) is not in a list of \(count) elements.")
    }
  }

  /// Whether a scalar column, or a list as an element, may hold the value.
  static func check(_ value: Value, _ column: ColumnEntry, _ type: ValueType) throws(StorageError) {
    if value.isNull ? column.schema.mayBeNull : value.fits(type) { return }
    throw StorageError(.typeMismatch, .statement, "'\(column.schema.name)' cannot hold \(value).")
  }

  /// Takes the backlinks of one value away and puts those of another there; null is nowhere.
  mutating func link(_ column: ColumnID, _ owner: Int64, from old: Value, to new: Value) {
    for target in old.targets {
      guard var owners = backlinks[column]?[target] else { continue }
      backlinks[column]?[target] = []
      let position = owners.firstPosition { $0 >= owner }
      if position < owners.count, owners[position] == owner { owners.remove(at: position) }
      backlinks[column]?[target] = owners.isEmpty ? nil : owners
    }
    for target in new.targets {
      var owners = backlinks[column, default: [:]].removeValue(forKey: target) ?? []
      owners.insert(owner, at: owners.firstPosition { $0 > owner })
      backlinks[column, default: [:]][target] = owners
    }
  }
}

extension Array {
  /// The first position whose element passes, in an array whose failing elements all come first; `count` when
  /// none passes.
  func firstPosition(where passes: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if passes(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Value {
  /// What a value points to; a plain link to table 0.
  fileprivate var targets: [ObjectLink] {
    if case .link(let key) = self { return [ObjectLink(TableID(0), key)] }
    return links
  }
}
