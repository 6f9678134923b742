import StorageInterface
import StoreValues

extension RecordedTransaction {
  /// The objects to delete with an object, itself first: those that only it owns, transitively. Throws `.deleteDenied` if a
  /// rule forbids one of the deletes. Changes nothing.
  func doomed(by first: ObjectPlace) throws(StorageError) -> [ObjectPlace] {
    let ownership = ownership
    if ownership.owning[first.table] == nil, ownership.denying[first.table] == nil { return [first] }
    // Iterative, not recursive: a chain of a million owners is legal.
    var order = [first]
    var doomed: Set<ObjectPlace> = [first]
    var next = 0
    while next < order.count {
      let owner = order[next]
      next += 1
      for relationship in ownership.owning[owner.table] ?? [] {
        for key in try targets(of: relationship, owner.key) {
          let target = ObjectPlace(table: relationship.target, key: key)
          if doomed.contains(target) { continue }
          if try isOwned(target, apartFrom: doomed, ownership) { continue }
          doomed.insert(target)
          order.append(target)
        }
      }
    }
    for owner in order {
      for relationship in ownership.denying[owner.table] ?? [] {
        let left = try targets(of: relationship, owner.key)
          .contains { !doomed.contains(ObjectPlace(table: relationship.target, key: $0)) }
        if left { throw deleteDenied(owner, relationship) }
      }
    }
    return order
  }

  /// Deletes objects that the write's edits left without an owner. Part of the commit; an earlier call makes the deletes
  /// visible to the rest of the write.
  public func removeOrphans() throws(StorageError) {
    while let candidate = part.letGo.popFirst() {
      guard try transaction.contains(candidate.table, ObjectKey(candidate.key)),
        try !isOwned(candidate, apartFrom: [], ownership)
      else { continue }
      try delete(candidate.table, ObjectKey(candidate.key))
    }
  }

  /// The targets of an owner's relationship, with repetitions.
  func targets(of relationship: Relationship, _ owner: Int64) throws(StorageError) -> [Int64] {
    let key = ObjectKey(owner)
    if !relationship.isList { return try transaction.word(relationship.column, key).map { [$0] } ?? [] }
    return try elements(relationship.column, key, 0..<Int.max)
  }

  /// Whether an owning relationship points to the object.
  public func isOwned(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool {
    try isOwned(ObjectPlace(table: table, key: key.rawValue), apartFrom: [], ownership)
  }

  private func isOwned(
    _ target: ObjectPlace, apartFrom doomed: Set<ObjectPlace>, _ ownership: Ownership
  ) throws(StorageError) -> Bool {
    var isOwned = false
    for relationship in ownership.owners[target.table] ?? [] where !isOwned {
      try transaction.sources(of: ObjectKey(target.key), through: relationship.column) { sources in
        isOwned = sources.contains { !doomed.contains(ObjectPlace(table: relationship.column.table, key: $0)) }
        return isOwned ? .stop : .proceed
      }
    }
    return isOwned
  }

  /// Call before the values of a column that is no longer used are cleared past the record: embedded objects that only it has go with the
  /// commit, or with `removeOrphans`.
  package func noteRelease(of column: ColumnID, _ key: ObjectKey) throws(StorageError) {
    guard let owned = owning(column) else { return }
    for target in try targets(of: owned, key.rawValue) { part.letGo.insert(ObjectPlace(table: owned.target, key: target)) }
  }

  /// Whether a delete rule may deny a delete.
  package var mayDenyDeletes: Bool { hasRules && !ownership.denying.isEmpty }

  /// Notes the objects that an edit of an owning relationship is about to release.
  func willEdit(_ relationship: Relationship, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    guard let range = edit.lostRange else { return }
    for key in try elements(relationship.column, owner, range) {
      part.letGo.insert(ObjectPlace(table: relationship.target, key: key))
    }
  }

  /// The objects at these positions of a collection of links, clamped to its end.
  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>
  ) throws(StorageError) -> [Int64] {
    var keys: [Int64] = []
    try transaction.elements(column, owner, range) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count where !vector.isNull(at: row) { keys.append(vector.word(at: row)) }
      return .proceed
    }
    return keys
  }

  private func deleteDenied(_ owner: ObjectPlace, _ relationship: Relationship) -> StorageError {
    let table = transaction.catalog[owner.table]
    let name = "\(table?.name ?? "?").\(table?[relationship.column.property]?.schema.name ?? "?")"
    return StorageError(
      .deleteDenied, .statement, "The \(table?.name ?? "?") object #\(owner.key) cannot be deleted while '\(name)' is not empty.",
      remedy: "Take everything out of '\(name)' first.")
  }
}

extension StorageError.Code {
  /// A delete rule `.deny` forbids the delete.
  public static let deleteDenied = Self(rawValue: "deleteDenied")
}
