import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

extension Integrator {
  mutating func delete(_ object: ObjectIdentity) throws(StorageError) {
    guard let place = try names.place(of: object) else { return }
    try write.delete(place.table, place.key)
    try names.forget(object, at: place)
  }

  // MARK: properties

  mutating func set(
    _ name: Name, _ cell: CellValue, in object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) {
    if path.isEmpty {
      guard let property = names.type(of: object)?.property(name), let place = try names.place(of: object) else { return }
      return try put(try shown(cell, property.column) ?? .null, property.id, place.key, as: property.column.schema.valueType)
    }
    guard let row = try row(object, path), let column = settable(name, of: row.table) else { return }
    try write.set(row.table.column(column.id), row.key, try shown(cell, column) ?? .null)
  }

  mutating func add(
    _ delta: Int64, to name: Name, in object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) {
    guard let row = try row(object, path), let column = settable(name, of: row.table) else { return }
    let id = row.table.column(column.id)
    let sum: Value
    switch try write.transaction.value(id, row.key) {
    case .int(let old): sum = .int(old &+ delta)
    case .null:
      // A null that somebody wrote stays; a property never written counts from zero.
      guard try register(name, of: object, path)?.key == .never else { return }
      sum = .int(delta)
    default: return
    }
    guard let type = column.schema.valueType, sum.fits(type) else { throw mismatch(CellValue.int(delta), column) }
    try write.set(id, row.key, sum)
  }

  /// A single-valued property that can be written, else nil. The primary key never changes.
  func settable(_ name: Name, of table: TableEntry) -> ColumnEntry? {
    guard let column = table[name.text], ShownType.isSettable(column, write.transaction.catalog) else { return nil }
    return column
  }

  private func register(_ name: Name, of object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) -> Register? {
    try contents(of: object, path)?.values[name]
  }

  /// What the merge state has at the end of a path to an object or embedded object.
  func contents(of object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) -> Contents? {
    guard var contents = try watched.record(of: object)?.node.contents else { return nil }
    var map = EntryMap()
    for (index, step) in path.enumerated() {
      switch step {
      case .embedded(let name): contents = contents.embedded[name]?.contents ?? Contents()
      case .map(let name): map = contents.maps[name] ?? EntryMap()
      case .entry(let key): contents = map.entries[key]?.slot.node.contents ?? Contents()
      case .element(let id):
        let list = ListPlace(object: object, path: Array(path[..<index]))
        contents = try watched.element(id, near: .none, of: list)?.slot.node.contents ?? Contents()
      case .list, .set: break
      }
    }
    return contents
  }

  // MARK: embedded objects

  /// Creates the embedded object at the end of the path, empty.
  mutating func make(_ object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) {
    switch path.last {
    case .embedded(let name):
      guard let row = try row(object, path.dropLast()), let column = row.table[name.text], column.schema.isScalar,
        let table = embedded(column)
      else { return }
      let key = try insertRow(table)
      try write.set(row.table.column(column.id), row.key, word: key.rawValue)
    case .element(let id):
      let place = ListPlace(object: object, path: path.dropLast())
      guard let list = try collection(object, place.path), let table = embedded(list.column) else { return }
      let index = try shownIndex(of: id, in: place, list.column)
      let key = try insertRow(table)
      try write.edit(list.id, list.owner, .insert(at: index, [.link(key)]))
    case .entry(let name):
      guard let map = try collection(object, path.dropLast()), let table = embedded(map.column) else { return }
      let key = try insertRow(table)
      try write.set(.link(key), forKey: name.text, in: map.id, map.owner)
    default: break
    }
  }

  /// Removes the embedded object at the end of the path. The commit deletes its row and what it embeds.
  mutating func remove(_ object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) {
    switch path.last {
    case .embedded(let name):
      guard let row = try row(object, path.dropLast()), let column = row.table[name.text], column.schema.isScalar,
        embedded(column) != nil
      else { return }
      try write.set(row.table.column(column.id), row.key, word: nil)
    case .element(let id):
      let place = ListPlace(object: object, path: path.dropLast())
      guard let list = try collection(object, place.path), let old = watched.replaced[place], try isShown(old, list.column)
      else { return }
      let index = try shownIndex(of: id, in: place, list.column)
      try write.edit(list.id, list.owner, .remove(index..<index + 1))
    case .entry(let name):
      if let map = try collection(object, path.dropLast()) { try write.remove(key: name.text, from: map.id, map.owner) }
    default: break
    }
  }
}
