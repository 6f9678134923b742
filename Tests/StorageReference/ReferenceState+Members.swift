import StorageInterface
import StoreValues

/// Changes of sets and maps. Checked first, as the others are.
extension ReferenceState {
  mutating func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    let (entry, type) = try setType(column)
    var members = try list(column, owner).0
    try ReferenceState.check(member, entry, type)
    let position = members.firstPosition { $0.order(to: member) != .before }
    if position < members.count, members[position].order(to: member) == .same { return false }
    members.insert(member, at: position)
    link(column, owner.rawValue, from: .null, to: member)
    tables[column.table]?.rows[owner.rawValue]?.lists[column.property] = members
    return true
  }

  mutating func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    _ = try setType(column)
    guard let position = try position(of: member, in: column, owner) else { return false }
    var members = try list(column, owner).0
    link(column, owner.rawValue, from: members.remove(at: position), to: .null)
    tables[column.table]?.rows[owner.rawValue]?.lists[column.property] = members
    return true
  }

  mutating func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    let (entry, type) = try mapType(column)
    var map = try map(column, owner)
    try ReferenceState.check(value, entry, type)
    let old = map[key]
    if old == value { return nil }
    map[key] = value
    link(column, owner.rawValue, from: old ?? .null, to: value)
    tables[column.table]?.rows[owner.rawValue]?.maps[column.property] = map
    return old == nil ? .inserted : .modified
  }

  mutating func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    var map = try map(column, owner)
    guard let old = map[key] else { return false }
    map[key] = nil
    link(column, owner.rawValue, from: old, to: .null)
    tables[column.table]?.rows[owner.rawValue]?.maps[column.property] = map
    return true
  }
}
