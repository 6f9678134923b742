import ChangeTracker
import StorageInterface
import StoreValues

// References by name, `{"$ref": "Dog-17"}`, in what objects are created from.

extension Store {
  /// The object with an `objectIdentifier`: `Type-primaryKey`, or `Type-key` for types without a primary key. Nil if there is none.
  func key(_ table: TableEntry, identifier: String, _ write: RecordedTransaction) throws(StoreError) -> ObjectKey? {
    let prefix = "\(table.name)-"
    // By bytes: the key may begin with a mark that is one character with the hyphen.
    guard identifier.utf8.starts(with: prefix.utf8) else { return nil }
    let text = String(decoding: identifier.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    return try storing { () throws(StorageError) in
      guard let primaryKey = table.primaryKey, let index = table.primaryIndex, let wanted = primaryKey.schema.valueType else {
        guard let key = Int64(text).map({ ObjectKey($0) }), try write.transaction.contains(table.id, key) else { return nil }
        return key
      }
      let value = wanted.integerRange == nil ? Value.converted(text, to: wanted) : Int64(text).map { .int($0) }
      guard let value, value.fits(wanted) else { return nil }
      return try write.transaction.key(in: index.id, equal: [value])
    }
  }

  /// Whether an untyped mixed value is a reference to an object, or a map that is marked as none (`GraphName.map`), or has one in it. A
  /// dictionary with a key `$ref` that names no type of the store is a dictionary.
  func refers(_ given: Any?, _ write: RecordedTransaction, depth: Int = 0) -> Bool {
    guard depth <= MixedCoding.depthMax, let given = Value.unwrapped(given) else { return false }
    if let members = given as? [String: Any?] {
      if reference(members, write) != nil || Store.quotedMap(members) != nil { return true }
      return members.values.contains { refers($0, write, depth: depth + 1) }
    }
    return (given as? [Any?])?.contains { refers($0, write, depth: depth + 1) } ?? false
  }

  /// An untyped mixed value with links in place of its references. Throws `.typeMismatch` if one names no object.
  func linked(
    _ given: Any?, of property: PropertySchema, _ write: RecordedTransaction, depth: Int = 0
  ) throws(StoreError) -> Any? {
    guard depth <= MixedCoding.depthMax, let value = Value.unwrapped(given) else { return given }
    if let members = value as? [String: Any?] {
      if let (table, identifier) = reference(members, write) {
        guard let key = try key(table, identifier: identifier, write) else { throw .unresolved(identifier, property) }
        return AnyValue(.object(ObjectLink(table.id, key)), of: self)
      }
      var result: [String: Any?] = [:]
      for (name, member) in Store.quotedMap(members) ?? members {
        result.updateValue(try linked(member, of: property, write, depth: depth + 1), forKey: name)
      }
      return result
    }
    guard let elements = value as? [Any?] else { return given }
    var result: [Any?] = []
    for element in elements { result.append(try linked(element, of: property, write, depth: depth + 1)) }
    return result
  }

  private static func quotedMap(_ members: [String: Any?]) -> [String: Any?]? {
    guard members.count == 1, let quoted = members[GraphName.map] else { return nil }
    return Value.unwrapped(quoted) as? [String: Any?]
  }

  private func reference(_ members: [String: Any?], _ write: RecordedTransaction) -> (table: TableEntry, identifier: String)? {
    guard members.count == 1, let identifier = Value.unwrapped(members[GraphName.reference] ?? nil) as? String,
      let type = GraphName.type(in: identifier), let table = write.transaction.catalog[type]
    else { return nil }
    return (table, identifier)
  }
}

extension StoreError {
  static func unresolved(_ reference: Any?, _ property: PropertySchema) -> StoreError {
    StoreError(
      .typeMismatch, "'\(property.name)' refers to \(Value.shown(reference)), which is neither in the data nor in the store.",
      details: ["property": property.name])
  }
}

extension Store {
  /// The `objectIdentifier` of an object that a mixed value links to; nil if the object is gone.
  func objectIdentifier(of link: ObjectLink) throws(StoreError) -> String? {
    guard let table = reading.catalog[link.table] else { return nil }
    return try storing { () throws(StorageError) -> String? in
      guard try reading.contains(table.id, link.key) else { return nil }
      guard let primaryKey = table.primaryKey else { return "\(table.name)-\(link.key.rawValue)" }
      let value = try reading.value(table.column(primaryKey.id), link.key)
      return "\(table.name)-\(value)"
    }
  }
}
