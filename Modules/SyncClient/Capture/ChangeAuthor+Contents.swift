import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

extension ChangeAuthor {
  /// Captures the differences of a row.
  ///
  /// - Parameters:
  ///   - properties: the properties that may differ; nil for all.
  ///   - isNew: whether the merge state has nothing of the row yet.
  mutating func contents(
    of row: ShownRow, _ object: ObjectIdentity, _ path: [PathStep.Place], _ properties: PropertySet?, isNew: Bool
  ) throws(StorageError) {
    let wasFilling = isFilling
    defer { isFilling = wasFilling }
    for column in row.table.columns where column.schema.isStored && column.schema.derivation == nil && !column.schema.isPrimaryKey {
      if let properties, !properties.contains(column.id) { continue }
      let name = Name(column.schema.name)
      isFilling = wasFilling || !isNew && isAdded(column.id, to: row.table.id)
      let place = ShownCollection(id: row.table.column(column.id), column: column, owner: row.key)
      if isFilling, column.schema.isMap { try refuseEntries(of: place, row.table, path) }
      if isFilling, try isCollectionKnown(name, object, path) { continue }
      switch column.schema.kind {
      case .scalar where shown.embedded(column) != nil: try embedded(place, object, path + [.embedded(name)])
      case .scalar: try scalar(place, name, object, path, isNew: isNew)
      case .list: try list(place, object, path + [.list(name)], isNew: isNew)
      case .set: try set(place, object, path + [.set(name)], isNew: isNew)
      case .map: try map(place, object, path + [.map(name)], isNew: isNew)
      case .linkingObjects: break
      }
    }
  }

  /// Whether others wrote of a collection before the file had it. What they wrote is shown at the end, in place of what is there now.
  private func isCollectionKnown(_ name: Name, _ object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) -> Bool {
    guard let contents = try shown.contents(of: object, path) else { return false }
    if contents.sets[name] != nil || contents.maps[name] != nil { return true }
    // An object without a record has all of its lists, empty.
    guard let list = contents.lists[name] else { return false }
    if list != ListHead() { return true }
    return try !state.elements(of: ListPlace(object: object, path: path + [.list(name)])).isEmpty
  }

  // MARK: one value

  private mutating func scalar(
    _ place: ShownCollection, _ name: Name, _ object: ObjectIdentity, _ path: [PathStep.Place], isNew: Bool
  ) throws(StorageError) {
    let column = place.column
    guard case .scalar(let type) = column.schema.kind else { return }
    let now = try sides.value(place.id, place.owner)
    let nothing: Value = column.schema.mayBeNull ? .null : Value.zero(of: type)
    if isNew, now == nothing { return }
    let register = try shown.contents(of: object, path)?.values[name]
    if isFilling, let register, register.key != .never { return }
    let before = try register.map { register throws(StorageError) in try shown.shown(register.visible, column) ?? .null } ?? nothing
    // A default that the file shows but nobody wrote differs from the same value written.
    let isKnown = register != nil || column.absentValue == nothing
    if before == now, isKnown { return }
    if let delta = notes.increments[CommitNotes.Place(place.id, place.owner)], case .int(let old) = before, now == .int(old &+ delta) {
      return try make(object, path, .add(name, delta))
    }
    // Of what other programs left as it was it cannot be told whether they wrote it.
    let isUnwritten = now == column.absentValue && (isNew || isComparing && register == nil)
    let isDefault = isAdopting || isFilling || isUnwritten
    try make(object, path, .set(name, try cell(now, column), isDefault: isDefault))
  }

  // MARK: embedded objects

  private mutating func embedded(
    _ place: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) {
    let node = try node(at: path, of: object)
    // Others have made or removed one before the file had the property: that is shown at the end, in place of what is there now.
    if isFilling, let node, node.isMade || node.guarding.epoch != .zero || !node.contents.isEmpty {
      return yielded.append((object, path))
    }
    guard let key = try sides.word(place.id, place.owner) else {
      if node?.isMade == true { try make(object, path, .remove) }
      return
    }
    // Contents that others wrote into an embedded object that was never made must not show up in this one.
    if let node, node.isMade ? isMadeNow(place.column, key) : !node.contents.isEmpty { try make(object, path, .remove) }
    try part(place.column, key, object, path)
  }

  /// Captures the embedded object at the end of the path.
  mutating func part(
    _ column: ColumnEntry, _ key: Int64, _ object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) {
    guard let table = shown.embedded(column) else { return }
    let isMade = try node(at: path, of: object)?.isMade ?? false
    if !isMade { try make(object, path, .make) }
    isWhole.insert(ObjectPlace(table: table.id, key: key))
    try contents(of: ShownRow(table: table, key: ObjectKey(key)), object, path, nil, isNew: !isMade)
  }

  /// Whether the write created the embedded row with this key: it replaces the previous one.
  func isMadeNow(_ column: ColumnEntry, _ key: Int64) -> Bool {
    guard let table = shown.embedded(column) else { return false }
    return inserted[table.id]?.contains(key) ?? false
  }

  private func node(at path: [PathStep.Place], of object: ObjectIdentity) throws(StorageError) -> Node? {
    let outer = try shown.contents(of: object, Array(path.dropLast()))
    switch path.last {
    case .embedded(let name): return outer?.embedded[name]
    case .element(let id): return try state.element(id, near: .none, of: ListPlace(object: object, path: path.dropLast()))?.slot.node
    case .entry(let key):
      guard case .map(let name) = path.dropLast().last else { return nil }
      return try shown.contents(of: object, Array(path.dropLast(2)))?.maps[name]?.entries[key]?.slot.node
    default: return nil
    }
  }

  // MARK: embedded objects changed in place

  /// Captures changes inside embedded objects that existed before, the outer ones first.
  mutating func changedParts(_ tables: [(TableEntry, TableChange)]) throws(StorageError) {
    var parts: [(row: ShownRow, properties: PropertySet, object: ObjectIdentity, path: [PathStep.Place])] = []
    for (table, change) in tables where table.isEmbedded {
      for modified in change.modified {
        let row = ShownRow(table: table, key: modified.key)
        if isWhole.contains(ObjectPlace(table: table.id, key: modified.key.rawValue)) { continue }
        guard let (object, path) = try location(of: row, depth: 0) else { continue }
        parts.append((row, modified.properties, object, path))
      }
    }
    for part in parts.sorted(by: { $0.path.count < $1.path.count }) {
      if isWhole.contains(ObjectPlace(table: part.row.table.id, key: part.row.key.rawValue)) { continue }
      try contents(of: part.row, part.object, part.path, part.properties, isNew: false)
    }
  }

  /// The path to an embedded object and the object that contains it; nil if nothing contains it, or an object of a local type does.
  private func location(of row: ShownRow, depth: Int) throws(StorageError) -> (ObjectIdentity, [PathStep.Place])? {
    guard depth < SyncModel.Operation.depthMax else { return nil }
    for table in sides.catalog.tables where !localTypes.contains(table.name) {
      for column in table.columns where shown.embedded(column)?.id == row.table.id {
        var owner: Int64?
        try sides.sources(of: row.key, through: table.column(column.id)) { keys in
          owner = keys.first
          return owner == nil ? .proceed : .stop
        }
        guard let owner else { continue }
        let outer = ShownRow(table: table, key: ObjectKey(owner))
        let way: (ObjectIdentity, [PathStep.Place])?
        if table.isEmbedded {
          way = try location(of: outer, depth: depth + 1)
        } else {
          way = try names.identity(of: ObjectLink(table.id, outer.key)).map { ($0, []) }
        }
        guard let (object, path) = way, let steps = try steps(to: row, column, outer, object, path) else { return nil }
        return (object, path + steps)
      }
    }
    return nil
  }

  private func steps(
    to row: ShownRow, _ column: ColumnEntry, _ owner: ShownRow, _ object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) -> [PathStep.Place]? {
    let name = Name(column.schema.name)
    let id = owner.table.column(column.id)
    switch column.schema.kind {
    case .scalar: return [.embedded(name)]
    case .list:
      let keys = try sides.values(id, owner.key, 0..<Int.max)
      let made = try state.elements(of: ListPlace(object: object, path: path + [.list(name)])).filter(\.slot.node.isMade)
      guard let index = keys.firstIndex(of: .link(row.key)), index < made.count else { return nil }
      return [.list(name), .element(made[index].id)]
    case .map:
      guard let entry = try sides.entries(id, owner.key, 0..<Int.max).first(where: { $0.value == .link(row.key) }) else { return nil }
      return [.map(name), .entry(Name(entry.key))]
    case .set, .linkingObjects: return nil
    }
  }
}
