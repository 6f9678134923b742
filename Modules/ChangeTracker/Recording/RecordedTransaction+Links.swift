import StorageInterface
import StoreValues

// Removal of links to objects that are deleted.

/// A relationship, seen from its target type.
struct IncomingRelationship {
  let column: ColumnID
  let schema: PropertySchema
}

extension RecordedTransaction {
  func relationships(to table: TableID) -> [IncomingRelationship] {
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

  /// Removes objects that are about to be deleted from all links and collections, but for those of objects that go with them. Costs
  /// the links to them, and not the objects, where the engine can tell which are linked.
  func unlink(_ doomed: KeyRuns, of table: TableID) throws(StorageError) {
    let keys = Array(doomed)
    for relationship in relationships(to: table) {
      let owners = relationship.column.table == table ? doomed : KeyRuns()
      for key in try transaction.linked(keys, in: table, through: relationship.column) {
        try nullify(relationship, target: ObjectKey(key), of: table, except: owners)
      }
    }
  }

  /// - Parameter doomed: owners that need not be changed.
  func nullify(
    _ relationship: IncomingRelationship, target: ObjectKey, of table: TableID, except doomed: KeyRuns = KeyRuns()
  ) throws(StorageError) {
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
    for source in sources where !doomed.contains(source) {
      if !relationship.schema.isRelationship || relationship.schema.isSet || relationship.schema.isMap {
        try nullify(relationship.column, relationship.schema, link, in: ObjectKey(source))
      } else if relationship.schema.isList {
        try removeElements(equalTo: target, of: relationship.column, ObjectKey(source))
      } else {
        try set(relationship.column, ObjectKey(source), word: nil)
      }
    }
  }

  /// Removes every element of a list that is a link to the target. The first removal from a list in a write walks it; from the
  /// second on each costs O(log n), so that deleting all elements of a list costs what deleting them does.
  private func removeElements(
    equalTo target: ObjectKey, of column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) {
    let list = ElementPlacesCache.List(column: column, owner: owner)
    var places = elementPlaces.remove(list)
    if places == nil, elementPlaces.isWorthKeeping(list) { places = ElementPlaces(try links(in: list)) }
    // If an edit fails, nothing is kept of the list.
    guard let places else {
      let (positions, count) = try positions(of: target, in: list)
      for position in positions.reversed() { try edit(column, owner, .remove(position..<position + 1)) }
      return elementPlaces.noteWalk(list, count: count)
    }
    for position in places.remove(target.rawValue).reversed() { try edit(column, owner, .remove(position..<position + 1)) }
    elementPlaces.keep(places, of: list)
  }

  private func positions(
    of target: ObjectKey, in list: ElementPlacesCache.List
  ) throws(StorageError) -> (positions: [Int], count: Int) {
    var (positions, count): ([Int], Int) = ([], 0)
    try eachLink(in: list) { key in
      if key == target.rawValue { positions.append(count) }
      count += 1
    }
    return (positions, count)
  }

  private func links(in list: ElementPlacesCache.List) throws(StorageError) -> [Int64] {
    var links: [Int64] = []
    try eachLink(in: list) { links.append($0 ?? .min) }
    return links
  }

  private func eachLink(in list: ElementPlacesCache.List, _ body: (Int64?) -> Void) throws(StorageError) {
    try transaction.elements(list.column, list.owner, 0..<Int.max) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count { body(vector.isNull(at: row) ? nil : vector.word(at: row)) }
      return .proceed
    }
  }
}
