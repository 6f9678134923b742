import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Which parts of an object are updated to the merge state.
enum Reconciling {
  case everything
  /// Only what can hold links, in an existing object: some of them may now lead somewhere.
  case links
  /// Only written values, for which the schema may have had no property until now. Values that nobody wrote stay as the schema set them.
  case kept
}

extension Integrator {
  /// Updates an object to what the merge state shows, whatever it was before; writes only differences.
  mutating func reconcile(_ object: ObjectIdentity, _ scope: Reconciling = .everything) throws(StorageError) {
    guard let record = try watched.record(of: object), record.isAlive else {
      if scope == .everything { try delete(object) }
      return
    }
    if scope != .links { try create(object) }
    guard let row = try row(object, []) else { return }
    try reconcile(record.node.contents, row, object, [], scope)
  }

  /// Updates a property that embeds an object, at the end of the path, to what the merge state shows, whatever the file has there.
  mutating func reconcile(embedded path: [PathStep.Place], of object: ObjectIdentity) throws(StorageError) {
    guard case .embedded(let name) = path.last, let row = try row(object, path.dropLast()), let column = row.table[name.text]
    else { return }
    let property = ShownCollection(id: row.table.column(column.id), column: column, owner: row.key)
    try reconcile(try contents(of: object, path.dropLast())?.embedded[name], property, object, path, .everything)
  }

  private mutating func reconcile(
    _ contents: Contents, _ row: ShownRow, _ object: ObjectIdentity, _ path: [PathStep.Place], _ scope: Reconciling
  ) throws(StorageError) {
    for column in row.table.columns where column.schema.isStored && column.schema.derivation == nil {
      let name = Name(column.schema.name)
      let shown = ShownCollection(id: row.table.column(column.id), column: column, owner: row.key)
      let isEmbedding = embedded(column) != nil
      if scope == .links, !isEmbedding, column.schema.valueType?.mayLink != true { continue }
      switch column.schema.kind {
      case .scalar(let type):
        if isEmbedding {
          try reconcile(contents.embedded[name], shown, object, path + [.embedded(name)], scope)
        } else if settable(name, of: row.table) != nil {
          let cell = contents.values[name]?.visible
          if scope == .links, cell?.holdsLinks != true { continue }
          if scope == .kept, cell == nil { continue }
          let value = try cell.map { cell throws(StorageError) in try self.shown(cell, column) ?? .null }
          try write.set(shown.id, row.key, value ?? (column.schema.mayBeNull ? .null : Value.zero(of: type)))
        }
      case .list where scope == .kept && contents.lists[name] == nil: break
      case .set where scope == .kept && contents.sets[name] == nil: break
      case .map where scope == .kept && contents.maps[name] == nil: break
      case .list: try reconcile(list: ListPlace(object: object, path: path + [.list(name)]), shown, scope)
      case .set: try reconcile(shown, contents.sets[name] ?? MemberSet())
      case .map: try reconcile(contents.maps[name] ?? EntryMap(), shown, object, path + [.map(name)], scope)
      case .linkingObjects: break
      }
    }
  }

  /// For a property that embeds an object.
  private mutating func reconcile(
    _ node: Node?, _ property: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place], _ scope: Reconciling
  ) throws(StorageError) {
    guard let node, node.isMade else {
      if scope == .everything { try remove(object, path) }
      return
    }
    if scope != .links, try write.transaction.word(property.id, property.owner) == nil { try make(object, path) }
    guard let row = try row(object, path) else { return }
    try reconcile(node.contents, row, object, path, scope)
  }

  private mutating func reconcile(list place: ListPlace, _ list: ShownCollection, _ scope: Reconciling) throws(StorageError) {
    let elements = try watched.elements(of: place)
    guard let table = embedded(list.column) else {
      var new: [Value] = []
      for element in elements { if let value = try shown(element.slot.value, list.column) { new.append(value) } }
      return try replace(list, with: new)
    }
    let made = elements.filter(\.slot.node.isMade)
    if scope != .links, try write.transaction.elementCount(list.id, list.owner) != made.count {
      var keys: [Value] = []
      for _ in made { keys.append(.link(try insertRow(table))) }
      try write.edit(list.id, list.owner, .clear)
      try write.edit(list.id, list.owner, .insert(at: 0, keys))
    }
    for element in made {
      let path = place.path + [.element(element.id)]
      guard let row = try row(place.object, path) else { continue }
      try reconcile(element.slot.node.contents, row, place.object, path, scope)
    }
  }

  /// Replaces the elements of a list, but leaves an equal beginning and end unchanged.
  private func replace(_ list: ShownCollection, with new: [Value]) throws(StorageError) {
    let old = try write.transaction.values(list.id, list.owner, 0..<Int.max)
    let shorter = min(old.count, new.count)
    let prefix = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
    let suffix = (0..<shorter - prefix).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - prefix
    try write.edit(list.id, list.owner, .remove(prefix..<old.count - suffix))
    try write.edit(list.id, list.owner, .insert(at: prefix, Array(new[prefix..<new.count - suffix])))
  }

  private mutating func reconcile(
    _ entries: EntryMap, _ map: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place], _ scope: Reconciling
  ) throws(StorageError) {
    var shownKeys: Set<Name> = []
    let isEmbedding = embedded(map.column) != nil
    for entry in entries.entries where entry.value.isVisible {
      let slot = entry.value.slot
      if !isEmbedding {
        guard let value = try shown(slot.value, map.column) else { continue }
        try write.set(value, forKey: entry.key.text, in: map.id, map.owner)
      } else {
        guard slot.node.isMade else { continue }
        let inner = path + [.entry(entry.key)]
        if scope != .links, try row(object, inner) == nil { try make(object, inner) }
        if let row = try row(object, inner) { try reconcile(slot.node.contents, row, object, inner, scope) }
      }
      shownKeys.insert(entry.key)
    }
    for old in try write.transaction.entries(map.id, map.owner, 0..<Int.max) where !shownKeys.contains(Name(old.key)) {
      try write.remove(key: old.key, from: map.id, map.owner)
    }
  }
}
