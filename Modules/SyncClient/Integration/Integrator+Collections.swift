import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

extension Integrator {
  // MARK: lists

  mutating func insert(_ id: ElementID, _ cell: CellValue, in place: ListPlace) throws(StorageError) {
    guard let list = try collection(place.object, place.path), embedded(list.column) == nil,
      let value = try shown(cell, list.column)
    else { return }
    try write.edit(list.id, list.owner, .insert(at: try shownIndex(of: id, in: place, list.column), [value]))
  }

  mutating func setElement(_ id: ElementID, _ cell: CellValue, in place: ListPlace) throws(StorageError) {
    guard let list = try collection(place.object, place.path), let old = watched.replaced[place] else { return }
    let wasShown = try isShown(old, list.column)
    // If an object is embedded instead, that has an effect of its own.
    let value = embedded(list.column) == nil ? try shown(cell, list.column) : nil
    let index = try shownIndex(of: id, in: place, list.column)
    switch (wasShown, value) {
    case (true, let value?): try write.edit(list.id, list.owner, .set(at: index, value))
    case (true, nil): try write.edit(list.id, list.owner, .remove(index..<index + 1))
    case (false, let value?): try write.edit(list.id, list.owner, .insert(at: index, [value]))
    case (false, nil): break
    }
  }

  mutating func move(_ id: ElementID, from position: ListPosition, in place: ListPlace) throws(StorageError) {
    guard let list = try collection(place.object, place.path), let old = watched.replaced[place], try isShown(old, list.column)
    else { return }
    let from = try shownIndex(of: id, at: position, in: place, list.column)
    let to = try shownIndex(of: id, in: place, list.column)
    try write.edit(list.id, list.owner, .move(from: from, to: to))
  }

  mutating func erase(_ id: ElementID, from position: ListPosition, in place: ListPlace) throws(StorageError) {
    guard let list = try collection(place.object, place.path), let old = watched.replaced[place], try isShown(old, list.column)
    else { return }
    let index = try shownIndex(of: id, at: position, in: place, list.column)
    try write.edit(list.id, list.owner, .remove(index..<index + 1))
  }

  // MARK: sets

  mutating func insertMember(_ cell: CellValue, in object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) {
    guard let set = try collection(object, path) else { return }
    if set.column.schema.valueType == .mixed, cell.holdsLinks { return try reconcile(set, members(of: object, path)) }
    guard let value = try shown(cell, set.column) else {
      // The member may replace a shown link to another incarnation of the same object.
      return try reconcile(set, members(of: object, path))
    }
    if try write.insert(member: value, into: set.id, set.owner) { return }
    // The same member in another form: 1 and 1.0.
    guard let position = try write.transaction.position(of: value, in: set.id, set.owner),
      try write.transaction.values(set.id, set.owner, position..<position + 1).first != value
    else { return }
    try write.remove(member: value, from: set.id, set.owner)
    try write.insert(member: value, into: set.id, set.owner)
  }

  mutating func eraseMember(_ cell: CellValue, in object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) {
    guard let set = try collection(object, path) else { return }
    if set.column.schema.valueType == .mixed, cell.holdsLinks || cell == .null { return try reconcile(set, members(of: object, path)) }
    guard let value = try shown(cell, set.column) else { return }
    try write.remove(member: value, from: set.id, set.owner)
  }

  private func members(of object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) -> MemberSet {
    guard case .set(let name) = path.last else { return MemberSet() }
    return try contents(of: object, path.dropLast())?.sets[name] ?? MemberSet()
  }

  /// Updates a set to what the merge state shows.
  mutating func reconcile(_ set: ShownCollection, _ members: MemberSet) throws(StorageError) {
    var shown: Set<Value> = []
    for member in members.members where !member.value.isErased {
      if let value = try self.shown(member.value.value, set.column) { shown.insert(value) }
    }
    let current = try write.transaction.values(set.id, set.owner, 0..<Int.max)
    for value in current where !shown.contains(value) { try write.remove(member: value, from: set.id, set.owner) }
    let kept = Set(current)
    for value in shown where !kept.contains(value) { try write.insert(member: value, into: set.id, set.owner) }
  }

  // MARK: maps

  mutating func setEntry(
    _ key: Name, _ cell: CellValue, in object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) {
    guard let map = try collection(object, path) else { return }
    if embedded(map.column) == nil, let value = try shown(cell, map.column) {
      try write.set(value, forKey: key.text, in: map.id, map.owner)
    } else {
      try write.remove(key: key.text, from: map.id, map.owner)
    }
  }

  // MARK: all collections

  mutating func clear(_ object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) {
    guard let collection = try collection(object, path) else { return }
    if collection.column.schema.isList { return try write.edit(collection.id, collection.owner, .clear) }
    try write.removeAllMembers(of: collection.id, collection.owner)
  }
}

extension CellValue {
  /// Whether the value is a link, or has one in a list or map.
  var holdsLinks: Bool {
    switch self {
    case .plain: false
    case .link: true
    case .list(let elements): elements.contains(where: \.holdsLinks)
    case .map(let table): table.contains { $0.value.holdsLinks }
    }
  }
}
