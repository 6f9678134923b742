import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Sets and maps.
extension ChangeAuthor {
  mutating func set(
    _ set: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place], isNew: Bool
  ) throws(StorageError) {
    if try isWhole(set, object, path, isNew: isNew) {
      for value in try sides.values(set.id, set.owner, 0..<Int.max) {
        try make(object, path, .insertMember(try cell(value, set.column)))
      }
      return
    }
    if isComparing { return try compare(set: set, object, path) }
    for change in members[CommitNotes.Place(set.id, set.owner)] ?? [] {
      if change.kind == .removed {
        if let member = try removed(change.member, set.column) { try make(object, path, .eraseMember(member)) }
      } else {
        try make(object, path, .insertMember(try cell(change.member, set.column)))
      }
    }
  }

  mutating func map(
    _ map: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place], isNew: Bool
  ) throws(StorageError) {
    if try isWhole(map, object, path, isNew: isNew) {
      for entry in try sides.entries(map.id, map.owner, 0..<Int.max) {
        try write(entry.value, forKey: Name(entry.key), map, object, path, nil)
      }
      return
    }
    if isComparing { return try compare(map: map, object, path) }
    for change in members[CommitNotes.Place(map.id, map.owner)] ?? [] {
      guard case .string(let text) = change.member else { continue }
      let key = Name(text)
      let old = try entry(key, object, path)
      if let value = try sides.value(forKey: text, in: map.id, map.owner) {
        try write(value, forKey: key, map, object, path, old)
      } else if let old, try isShown(old, map.column) {
        try make(object, path, .eraseEntry(key))
      }
    }
  }

  /// Whether to capture the whole collection: if the object is new, or the collection was emptied, which is captured first; but not of a
  /// collection that is being filled: what others inserted into it on devices that were updated earlier stays.
  private mutating func isWhole(
    _ place: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place], isNew: Bool
  ) throws(StorageError) -> Bool {
    if isNew { return true }
    guard notes.cleared.contains(CommitNotes.Place(place.id, place.owner)) else { return false }
    if !isFilling { try make(object, path, .clear) }
    return true
  }

  /// Throws `.schemaMismatch` for entries of a map that is being filled: each key of a map has the latest that anybody wrote, and no
  /// default that would lose to it. An element that the write inserts into a list, with the map in it, is the file's own.
  func refuseEntries(of map: ShownCollection, _ table: TableEntry, _ path: [PathStep.Place]) throws(StorageError) {
    if path.contains(where: { if case .element(let id) = $0 { isNew(id) } else { false } }) { return }
    guard try sides.elementCount(map.id, map.owner) > 0 else { return }
    throw StorageError(
      .schemaMismatch, .transaction,
      "'\(table.name).\(map.column.schema.name)' is new, and a migration fills it in objects that other replicas have: whichever is "
        + "migrated last would overwrite the entries that somebody wrote.",
      remedy: "Leave the map empty in the migration, and write its entries where the app first needs them.")
  }

  /// Whether the write inserts the element. Any other is what all replicas have, whoever of them inserted it.
  private func isNew(_ element: ElementID) -> Bool { element.replica == standing.replica && element.number > elementsBefore }

  /// The replicated form of a removed member; nil for a link whose target is gone: it is hidden, and nobody edited it.
  private func removed(_ member: Value, _ column: ColumnEntry) throws(StorageError) -> CellValue? {
    switch member {
    case .link(let key):
      guard let table = column.schema.target.flatMap({ sides.catalog[$0] }), try sides.contains(table.id, key) else { return nil }
    case .object(let link):
      guard try sides.contains(link.table, link.key) else { return nil }
    default: break
    }
    return try cell(member, column)
  }

  // MARK: entries

  func entry(
    _ key: Name, _ object: ObjectIdentity, _ path: [PathStep.Place]
  ) throws(StorageError) -> EntryMap.Entry? {
    guard case .map(let name) = path.last else { return nil }
    let entry = try shown.contents(of: object, Array(path.dropLast()))?.maps[name]?.entries[key]
    return entry?.isVisible == true ? entry : nil
  }

  func isShown(_ entry: EntryMap.Entry, _ column: ColumnEntry) throws(StorageError) -> Bool {
    if shown.embedded(column) != nil { return entry.slot.node.isMade }
    return try shown.shown(entry.slot.value, column) != nil
  }

  /// - Parameter old: the entry that the merge state shows for the key.
  mutating func write(
    _ value: Value, forKey key: Name, _ map: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place],
    _ old: EntryMap.Entry?
  ) throws(StorageError) {
    guard shown.embedded(map.column) != nil else {
      if let old, try shown.shown(old.slot.value, map.column) == value { return }
      return try make(object, path, .setEntry(key, try cell(value, map.column)))
    }
    guard case .link(let row) = value else { return }
    if old?.slot.node.isMade != true || isMadeNow(map.column, row.rawValue) { try make(object, path, .setEntry(key, .null)) }
    try part(map.column, row.rawValue, object, path + [.entry(key)])
  }
}
