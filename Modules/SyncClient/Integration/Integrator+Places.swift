import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// A row of the file: of an object or an embedded object.
struct ShownRow {
  let table: TableEntry
  let key: ObjectKey
}

/// A collection property of a row.
struct ShownCollection {
  let id: ColumnID
  let column: ColumnEntry
  let owner: ObjectKey
}

extension Integrator {
  /// The row at the end of a path to an object or embedded object; nil if the file shows none.
  func row(_ object: ObjectIdentity, _ path: some Collection<PathStep.Place>) throws(StorageError) -> ShownRow? {
    guard let type = names.type(of: object), let place = try names.place(of: object) else { return nil }
    var row = ShownRow(table: type.table, key: place.key)
    if path.isEmpty { return row }
    var gone: [PathStep.Place] = []
    var container: ShownCollection?
    for step in path {
      gone.append(step)
      let key: Int64?
      switch step {
      case .embedded(let name):
        guard let column = row.table[name.text], embedded(column) != nil, column.schema.isScalar else { return nil }
        container = ShownCollection(id: row.table.column(column.id), column: column, owner: row.key)
        key = try write.transaction.word(row.table.column(column.id), row.key)
      case .list(let name), .map(let name):
        container = collection(name, of: row, step)
        continue
      case .element(let id):
        guard let container else { return nil }
        let list = ListPlace(object: object, path: Array(gone.dropLast()))
        let index = try shownIndex(of: id, in: list, container.column)
        key = try write.transaction.values(container.id, container.owner, index..<index + 1).first?.word
      case .entry(let name):
        guard let container else { return nil }
        key = try write.transaction.value(forKey: name.text, in: container.id, container.owner)?.word
      case .set: return nil
      }
      guard let key, let table = container.flatMap({ embedded($0.column) }) else { return nil }
      row = ShownRow(table: table, key: ObjectKey(key))
    }
    return row
  }

  /// The collection at the end of a path; nil if the file shows none.
  func collection(_ object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) -> ShownCollection? {
    guard let last = path.last, let row = try row(object, path.dropLast()) else { return nil }
    switch last {
    case .list(let name), .set(let name), .map(let name): return collection(name, of: row, last)
    case .embedded, .element, .entry: return nil
    }
  }

  private func collection(_ name: Name, of row: ShownRow, _ step: PathStep.Place) -> ShownCollection? {
    guard let column = row.table[name.text] else { return nil }
    let fits =
      switch step {
      case .list: column.schema.isList
      case .set: column.schema.isSet
      case .map: column.schema.isMap
      default: false
      }
    return fits ? ShownCollection(id: row.table.column(column.id), column: column, owner: row.key) : nil
  }

  /// The table that a column embeds; nil for other columns.
  func embedded(_ column: ColumnEntry) -> TableEntry? {
    if !column.schema.isRelationship { return nil }
    return ShownType.embedded(column, write.transaction.catalog)
  }

  // MARK: lists

  /// The number of elements shown before an element. O(n).
  func shownIndex(of id: ElementID, in list: ListPlace, _ column: ColumnEntry) throws(StorageError) -> Int {
    var index = 0
    for element in try watched.elements(of: list) {
      if element.id == id { return index }
      if try isShown(element, column) { index += 1 }
    }
    return index
  }

  /// The number of other elements shown before a position at which an element stood. O(n).
  func shownIndex(of id: ElementID, at position: ListPosition, in list: ListPlace, _ column: ColumnEntry) throws(StorageError) -> Int {
    var index = 0
    for element in try watched.elements(of: list) {
      if (element.position, element.id) >= (position, id) { continue }
      if element.id != id, try isShown(element, column) { index += 1 }
    }
    return index
  }

  /// Whether the list shows the element.
  func isShown(_ element: ListElement, _ column: ColumnEntry) throws(StorageError) -> Bool {
    guard column.schema.isRelationship else { return true }
    if embedded(column) != nil { return element.slot.node.isMade }
    return try shown(element.slot.value, column) != nil
  }

  // MARK: values

  /// The value shown for a property, an element, a member or an entry; nil for a hidden link of a relationship. Throws `.schemaMismatch`
  /// for a value that the column cannot hold.
  func shown(_ cell: CellValue, _ column: ColumnEntry) throws(StorageError) -> Value? {
    let schema = column.schema
    let value: Value
    if schema.valueType == .mixed {
      value = try cell.value { link throws(StorageError) in try target(of: link).map { .object($0) } }
    } else if schema.isRelationship, case .link(let link) = cell {
      if let name = schema.target, link.object.className.text != name { throw mismatch(cell, column) }
      guard let target = try target(of: link) else { return nil }
      return .link(target.key)
    } else {
      guard case .plain(let plain) = cell else { throw mismatch(cell, column) }
      value = plain.value
    }
    if value.isNull {
      if schema.mayBeNull { return value }
      if schema.isRelationship { return nil }
    } else if let type = schema.valueType, value.fits(type) {
      return value
    }
    throw mismatch(cell, column)
  }

  /// The object that a link leads to; nil if it leads nowhere.
  func target(of link: LinkTarget) throws(StorageError) -> ObjectLink? {
    guard try Merge.resolves(link, in: watched) else { return nil }
    return try names.place(of: link.object)
  }

  func mismatch(_ cell: CellValue, _ column: ColumnEntry) -> StorageError {
    StorageError(
      .schemaMismatch, .transaction, "'\(column.schema.name)' cannot hold \(cell), which another replica wrote.",
      remedy: "Give the property the same type in every program that writes the store.")
  }
}
