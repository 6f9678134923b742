import StorageInterface
import StoreValues

// Sets and maps.

extension RecordedTransaction {
  /// Adds a member to a set. Returns whether it was added.
  @discardableResult
  public func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    let member = try living(member)
    guard try transaction.insert(member: member, into: column, owner) else { return false }
    try noteEdit(column, owner, lost: [], gained: member.linkedKey.map { [$0] } ?? [])
    recordMember(.inserted, member, isMap: false, column, owner)
    return true
  }

  /// Removes a member from a set. Returns whether it was present.
  @discardableResult
  public func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    guard try transaction.remove(member: member, from: column, owner) else { return false }
    if case .link(let key) = member { lose(key, from: column) }
    try noteEdit(column, owner, lost: member.linkedKey.map { [$0] } ?? [], gained: [])
    recordMember(.removed, member, isMap: false, column, owner)
    return true
  }

  /// Sets the value of a key of a map. Returns whether the map changed.
  @discardableResult
  public func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> Bool {
    let value = try living(value)
    let old = try linked(byKey: key, of: column, owner)
    guard let kind = try transaction.set(value, forKey: key, in: column, owner) else { return false }
    if let old { lose(ObjectKey(old), from: column) }
    try noteEdit(column, owner, lost: old.map { [$0] } ?? [], gained: value.linkedKey.map { [$0] } ?? [])
    recordMember(kind, .string(key), isMap: true, column, owner)
    return true
  }

  /// Removes a key from a map. Returns whether it was present.
  @discardableResult
  public func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    let old = try linked(byKey: key, of: column, owner)
    guard try transaction.remove(key: key, from: column, owner) else { return false }
    if let old { lose(ObjectKey(old), from: column) }
    try noteEdit(column, owner, lost: old.map { [$0] } ?? [], gained: [])
    recordMember(.removed, .string(key), isMap: true, column, owner)
    return true
  }

  /// Empties a set or a map with one recorded removal per member. An empty one was not cleared, as an empty list is not. O(members).
  public func removeAllMembers(of column: ColumnID, _ owner: ObjectKey) throws(StorageError) {
    if part.notes != nil, try transaction.elementCount(column, owner) > 0 { part.notes?.clear(column, owner) }
    if transaction.catalog[column]?.schema.isMap == true {
      for entry in try transaction.entries(column, owner, 0..<Int.max) { try remove(key: entry.key, from: column, owner) }
    } else {
      for member in try transaction.values(column, owner, 0..<Int.max) { try remove(member: member, from: column, owner) }
    }
  }

  /// The object that a key of a map links to, if rules or derived properties depend on it.
  private func linked(byKey key: String, of column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int64? {
    if ownership.columns[column] == nil, derivations.byRelationship[column] == nil { return nil }
    return try transaction.value(forKey: key, in: column, owner)?.linkedKey
  }

  private func lose(_ key: ObjectKey, from column: ColumnID) {
    guard let owned = ownership.columns[column] else { return }
    part.letGo.insert(ObjectPlace(table: owned.target, key: key.rawValue))
  }
}

// Removal of links to deleted targets.

extension RecordedTransaction {
  /// Removes a deleted object from a set, a map or a mixed property: a map loses its key, a mixed value gets null in its place.
  func nullify(_ column: ColumnID, _ schema: PropertySchema, _ target: ObjectLink, in owner: ObjectKey) throws(StorageError) {
    func without(_ value: Value) -> Value? {
      if case .link(let key) = value { return key == target.key ? nil : value }
      return value.nullifying(target)
    }
    switch schema.kind {
    case .scalar: try set(column, owner, without(try transaction.value(column, owner)) ?? .null)
    case .list:
      // Lists of plain links are edited by position elsewhere.
      for (position, value) in try transaction.values(column, owner, 0..<Int.max).enumerated() {
        let kept = without(value) ?? .null
        if kept != value { try edit(column, owner, .set(at: position, kept)) }
      }
    case .set where schema.isRelationship:
      try remove(member: .link(target.key), from: column, owner)
    case .set:
      for value in try transaction.values(column, owner, 0..<Int.max) {
        let kept = without(value)
        if kept == value { continue }
        try remove(member: value, from: column, owner)
        if let kept { try insert(member: kept, into: column, owner) }
      }
    case .map:
      for entry in try transaction.entries(column, owner, 0..<Int.max) {
        guard let kept = without(entry.value) else {
          try remove(key: entry.key, from: column, owner)
          continue
        }
        if kept != entry.value { try set(kept, forKey: entry.key, in: column, owner) }
      }
    case .linkingObjects: break
    }
  }
}
