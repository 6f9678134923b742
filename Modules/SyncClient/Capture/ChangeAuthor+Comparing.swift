import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

// Captures what other programs wrote, by comparing whole rows with the merge state.

extension ChangeAuthor {
  /// As `capture`, for a write that began after other programs had written.
  mutating func capture(_ record: CommitRecord, after uncaptured: UncapturedWrites) throws(StorageError) {
    isComparing = true
    defer { isComparing = false }
    for (table, keys) in uncaptured.inserted { note(inserted: keys.sorted(), table) }
    let tables = sides.catalog.tables.filter { replicated($0.id) != nil }
    let changes = Dictionary(record.tables.map { ($0.table, $0) }) { first, _ in first }
    for table in tables where !table.isEmbedded {
      for key in changes[table.id]?.deleted ?? KeyRuns() { try delete(table, ObjectKey(key)) }
    }
    var rows: [(row: ShownRow, object: ObjectIdentity?)] = []
    var isRenamed = false
    for table in tables where !table.isEmbedded {
      let change = changes[table.id]
      let touched = (uncaptured.touched[table.id] ?? []).union(change?.inserted.map { $0 } ?? [])
        .union(change?.modified.map(\.key.rawValue) ?? [])
      for key in touched.sorted() where try sides.contains(table.id, ObjectKey(key)) {
        let row = ShownRow(table: table, key: ObjectKey(key))
        guard let object = try names.identity(of: ObjectLink(table.id, row.key)) else {
          rows.append((row, nil))
          continue
        }
        let isKnown = try state.record(of: object)?.isAlive ?? false
        isRenamed = isRenamed || !isKnown
        rows.append((row, isKnown ? object : nil))
      }
    }
    // An unknown object may be a known one with a changed primary key.
    if uncaptured.hasDeletions || isRenamed { try endMissing(tables) }
    var new: [(ShownRow, ObjectIdentity)] = []
    for (row, object) in rows where object == nil { new.append((row, try create(row.table, row.key))) }
    for (row, object) in new { try contents(of: row, object, [], nil, isNew: true) }
    for case (let row, let object?) in rows { try contents(of: row, object, [], nil, isNew: false) }
    try changedParts(
      tables.filter(\.isEmbedded).map { table in
        let touched = (uncaptured.touched[table.id] ?? []).union(changes[table.id]?.modified.map(\.key.rawValue) ?? [])
        return (table, Array(touched.sorted()))
      })
  }

  private mutating func changedParts(_ tables: [(table: TableEntry, keys: [Int64])]) throws(StorageError) {
    var changes: [(TableEntry, TableChange)] = []
    for (table, keys) in tables {
      let all = PropertySet(table.columns.map(\.id))
      var modified: [ModifiedObject] = []
      for key in keys where try sides.contains(table.id, ObjectKey(key)) {
        modified.append(ModifiedObject(key: ObjectKey(key), properties: all))
      }
      changes.append((table, TableChange(table: table.id, modified: modified)))
    }
    try changedParts(changes)
  }

  /// Ends objects that the merge state shows and the file no longer has. O(known objects).
  private mutating func endMissing(_ tables: [TableEntry]) throws(StorageError) {
    let classes = Set(tables.map { Name($0.name) })
    for object in try state.knownObjects().sorted() where classes.contains(object.className) {
      let place = try names.place(of: object)
      if let place, try sides.contains(place.table, place.key) { continue }
      try end(object, at: place)
    }
  }

  // MARK: members

  mutating func compare(set: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) {
    guard case .set(let name) = path.last else { return }
    var now: [MemberKey: CellValue] = [:]
    var order: [MemberKey] = []
    for value in try sides.values(set.id, set.owner, 0..<Int.max) {
      let member = try cell(value, set.column)
      if now.updateValue(member, forKey: member.memberKey) == nil { order.append(member.memberKey) }
    }
    let before = try shown.contents(of: object, path.dropLast())?.sets[name]?.members.filter { !$0.value.isErased } ?? []
    for member in before where now[member.key] == nil {
      // A link whose target is gone is hidden; nobody edited it.
      guard try shown.shown(member.value.value, set.column) != nil else { continue }
      try make(object, path, .eraseMember(member.value.value))
    }
    let known = Set(before.map(\.key))
    for key in order where !known.contains(key) { if let member = now[key] { try make(object, path, .insertMember(member)) } }
  }

  mutating func compare(map: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place]) throws(StorageError) {
    guard case .map(let name) = path.last else { return }
    let entries = try sides.entries(map.id, map.owner, 0..<Int.max)
    let now = Set(entries.map { Name($0.key) })
    for before in try shown.contents(of: object, path.dropLast())?.maps[name]?.entries.map({ $0 }) ?? []
    where before.value.isVisible && !now.contains(before.key) {
      if try isShown(before.value, map.column) { try make(object, path, .eraseEntry(before.key)) }
    }
    for entry in entries {
      let key = Name(entry.key)
      try write(entry.value, forKey: key, map, object, path, try self.entry(key, object, path))
    }
  }
}
