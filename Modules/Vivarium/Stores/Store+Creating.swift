import ChangeTracker
import Foundation
import StorageInterface
import StoreValues

extension Store {
  /// Creates an object from values by name, for data that comes as dictionaries: JSON, property lists, other tools.
  ///
  /// ```swift
  /// try store.create(Person.self, value: ["name": "Jane", "dogs": [["name": "Rex"]]])
  /// ```
  ///
  /// Values are Swift values of the property's type or convert to it without loss (see `setValue(_:forKey:)`): nested dictionaries
  /// or objects for links, arrays of these for lists. `nil` and `NSNull` are null. An omitted property has its default; without
  /// one, `.missingValue` names type and property.
  ///
  /// With `update`, an existing object with the primary key gets the given values and keeps the others; so do nested ones. Only
  /// values that differ are written. Throws `.unknownProperty`, `.typeMismatch`, and the errors of `add`. On an error, nothing of
  /// this call remains.
  @discardableResult
  public func create<T: Model>(
    _ type: T.Type, value: [String: Any?], update: UpdatePolicy = .error
  ) throws(StoreError) -> T {
    if T._$schema.isEmbedded { throw .embeddedAlone(T._$name) }
    let write = try openWrite(for: "Creating a \(T._$name)")
    var creation = Creation(update: update, write: write)
    // If all values are plain, all are checked before anything is written; if a default cannot be added, the object is taken back.
    let isFlat = context(type).properties.allSatisfy { property in
      guard let given = value[property.schema.name] else { return true }
      return property.schema.isScalar && !property.schema.isRelationship && !refers(given, property.schema, write)
    }
    if isFlat, update == .error { return live(try create(type, value, &creation)) }
    // Objects that were given are unmanaged again if it fails.
    let key = try undoneOnFailure(write) { () throws(StoreError) in
      try addingAll { () throws(StoreError) in try create(type, value, &creation) }
    }
    notify(of: creation)
    return live(key)
  }

  /// Creates objects from JSON: one from an object, several from an array. See `create(_:value:update:)`. Dates are strings (ISO
  /// 8601) or seconds since the reference date; data is base64. Also reads the encoding that objects themselves produce.
  @discardableResult
  public func create<T: Model>(
    _ type: T.Type, json: Data, update: UpdatePolicy = .error
  ) throws(StoreError) -> [T] {
    if T._$schema.isEmbedded { throw .embeddedAlone(T._$name) }
    let write = try openWrite(for: "Creating \(T._$name) objects")
    let node = try JSONNode(json)
    var creation = Creation(update: update, write: write)
    let keys = try undoneOnFailure(write) { () throws(StoreError) in
      let elements: [Any?]
      if case .array(let nodes) = node { elements = nodes.map(\.untyped) } else { elements = [node.untyped] }
      var keys: [Int64] = []
      for element in elements {
        guard let values = Value.unwrapped(element) as? [String: Any?] else {
          throw StoreError(.typeMismatch, "A \(T._$name) is made from a JSON object, and was given \(Value.shown(element)).")
        }
        keys.append(try create(type, values, &creation))
      }
      return keys
    }
    notify(of: creation)
    return keys.map { live($0) }
  }

  /// Runs part of a write; an error undoes only that part.
  func undoneOnFailure<R>(
    _ write: RecordedTransaction, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try storing { () throws(StorageError) in try write.beginSavepoint() }
    dropWindows()
    do throws(StoreError) {
      let result = try body()
      try storing { () throws(StorageError) in try write.releaseSavepoint() }
      return result
    } catch {
      dropWindows()
      // No part can be undone of a write that has failed as a whole. Its commit fails too, and the first error says why.
      try? write.rollbackToSavepoint()
      didChangeEverything()
      throw error
    }
  }
}

/// The state shared by all objects of one `create`.
struct Creation {
  let update: UpdatePolicy
  let write: RecordedTransaction
  /// Objects by their `"$id"` in the document, for cycles and repeated objects.
  var objects: [Int64: (type: String, key: Int64)] = [:]
  /// The objects it created.
  var made: Set<ObjectPlace> = []
  /// For observers of properties: values assigned to existing objects, and relationships set in any object.
  var assigned: [(context: ModelContext, key: Int64, ordinal: Int)] = []
  var relationships: Set<ColumnID> = []
  /// The nesting depth of the object being created.
  var depth = 0
  /// Bounds the recursion: data can nest deeper than the stack allows.
  static let depthMax = 100
}

extension Store {
  private func create<T: Model>(
    _ type: T.Type, _ values: [String: Any?], _ creation: inout Creation
  ) throws(StoreError) -> Int64 {
    guard creation.depth < Creation.depthMax else {
      throw StoreError(
        .typeMismatch, "The data for a \(T._$name) is nested deeper than \(Creation.depthMax) objects.",
        remedy: "Refer to objects that lie deeper by \"$ref\".", details: ["type": T._$name])
    }
    creation.depth += 1
    defer { creation.depth -= 1 }
    let context = context(type)
    for name in values.keys.sorted() where context.ordinal(named: name) == nil && name != GraphName.id {
      throw .unknownProperty(name, of: T._$name)
    }
    var (key, isNew) = (try stored(context, values, creation), false)
    if key == nil {
      // Inserts the row first and sets its links afterwards: so cycles work, and the row buffer is free for the linked objects.
      let adoption = try fill(T.self, context, values, creation.write)
      let made = try insert(adoption, context, .error, creation.write)
      // Taken now: an object in them may be of the same type, and need the row.
      let pending = adoption.pending.filter { values[context.properties[$0.ordinal].schema.name] == nil }
      adoption.pending = []
      (key, isNew) = (made.key, made.isNew)
      if observing.hasProperties { creation.made.insert(ObjectPlace(table: context.table, key: made.key)) }
      try addLinked(pending, of: T.self, made.key, creation.update, creation.write)
    }
    guard let key else { throw .unknownType(T._$name) }
    if let given = values[GraphName.id], let id = Value.unwrapped(given) as? any BinaryInteger {
      creation.objects[Int64(clamping: id)] = (T._$name, key)
    }
    // What mixed values refer to by name may be made from the other values.
    for isReferring in [false, true] {
      for (ordinal, property) in context.properties.enumerated() where property.schema.isStored && property.schema.derivation == nil {
        guard let given = values[property.schema.name], refers(given, property.schema, creation.write) == isReferring else { continue }
        let isPlain = property.schema.isScalar && !property.schema.isRelationship && !isReferring
        if ordinal == context.primaryKey || (isNew && isPlain) { continue }
        try assign(given, to: ordinal, of: key, context, &creation)
      }
    }
    return key
  }

  private func refers(_ given: Any?, _ property: PropertySchema, _ write: RecordedTransaction) -> Bool {
    property.valueType == .mixed && refers(given, write)
  }

  /// The existing object with the primary key in the values, if it is to be updated.
  private func stored(
    _ context: ModelContext, _ values: [String: Any?], _ creation: Creation
  ) throws(StoreError) -> Int64? {
    guard creation.update != .error, let ordinal = context.primaryKey, let index = context.primaryIndex,
      let given = values[context.properties[ordinal].schema.name]
    else { return nil }
    let value = try Value(given, for: context.properties[ordinal].schema, of: context.schema.name)
    return try storing { () throws(StorageError) in try creation.write.transaction.key(in: index, equal: [value])?.rawValue }
  }

  /// The row of a new object: its defaults, overridden by the given values. Without links, collections, and mixed values that refer to
  /// objects.
  private func fill<T: Model>(
    _ type: T.Type, _ context: ModelContext, _ values: [String: Any?], _ write: RecordedTransaction
  ) throws(StoreError) -> Adoption {
    let adoption = try context.adoption(in: write)
    adoption.collectsMissing = true
    defer { adoption.collectsMissing = false }
    adoption.keepsEmptyLists = false
    try T(_$blank: ())._$fill(adoption)
    var missing = adoption.missing
    for (ordinal, property) in context.properties.enumerated() {
      guard case .scalar(let type) = property.schema.kind, type != .link, property.schema.derivation == nil,
        let given = values[property.schema.name]
      else { continue }
      missing.removeAll { $0 == ordinal }
      if refers(given, property.schema, write) { continue }
      if type == .mixed { try AnyValue.check(given, for: identity) }
      let value = try Value(given, for: property.schema, of: T._$name)
      adoption.row.set(adoption.slots[ordinal], value)
    }
    if let first = missing.first {
      throw .missingValue(type: T._$name, property: context.properties[first].schema.name)
    }
    return adoption
  }
}

// MARK: - One property

extension Store {
  /// Sets a property of an object to an untyped value.
  func assign(
    _ given: Any?, to ordinal: Int, of key: Int64, _ context: ModelContext, _ update: UpdatePolicy,
    _ write: RecordedTransaction
  ) throws(StoreError) {
    var creation = Creation(update: update, write: write)
    let schema = context.properties[ordinal].schema
    if schema.isScalar, !schema.isRelationship {
      try assign(given, to: ordinal, of: key, context, &creation)
    } else {
      try undoneOnFailure(write) { () throws(StoreError) in
        try addingAll { () throws(StoreError) in try assign(given, to: ordinal, of: key, context, &creation) }
      }
    }
    notify(of: creation)
  }

  fileprivate func assign(
    _ given: Any?, to ordinal: Int, of key: Int64, _ context: ModelContext, _ creation: inout Creation
  ) throws(StoreError) {
    let property = context.properties[ordinal]
    defer { didChange(context) }
    if property.schema.derivation != nil {
      throw StoreError(
        .typeMismatch, "'\(context.schema.name).\(property.schema.name)' follows from others and cannot be set.",
        details: ["type": context.schema.name, "property": property.schema.name])
    }
    switch property.schema.kind {
    case .linkingObjects:
      throw StoreError(
        .typeMismatch, "'\(context.schema.name).\(property.schema.name)' is computed and cannot be set.",
        details: ["type": context.schema.name, "property": property.schema.name])
    case .scalar:
      let value = try element(given, property.schema, of: context.schema.name, &creation)
      announce(ordinal, of: key, context, &creation)
      try write(value, to: property.column, key, context, creation.write)
    case .map:
      guard let given = Value.isNull(given) ? [String: Any?]() : Value.unwrapped(given),
        let entries = (given as? [String: Any?])?.map({ (key: $0.key, value: $0.value) })
          ?? (given as? any KeyValueMap)?.untypedEntries
      else { throw .typeMismatch(given, property.schema) }
      var values: [ValueMap.Entry] = []
      for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
        values.append(.init(key, try element(value, property.schema, of: context.schema.name, &creation)))
      }
      announce(ordinal, of: key, context, &creation)
      _ = try storing { () throws(StorageError) in try creation.write.replaceMap(property.column, ObjectKey(key), values) }
    case .set:
      guard let given = Value.isNull(given) ? [Any?]() : Value.unwrapped(given),
        let elements = (given as? [Any?]) ?? (given as? any KeyValueCollection)?.untypedElements
      else { throw .typeMismatch(given, property.schema) }
      var values: [Value] = []
      for element in elements {
        values.append(try self.element(element, property.schema, of: context.schema.name, &creation))
      }
      announce(ordinal, of: key, context, &creation)
      _ = try storing { () throws(StorageError) in try creation.write.replaceSet(property.column, ObjectKey(key), values) }
    case .list:
      guard let given = Value.isNull(given) ? [Any?]() : Value.unwrapped(given),
        let elements = (given as? [Any?]) ?? (given as? any KeyValueCollection)?.untypedElements
      else { throw .typeMismatch(given, property.schema) }
      var values: [Value] = []
      for element in elements {
        values.append(try self.element(element, property.schema, of: context.schema.name, &creation))
      }
      announce(ordinal, of: key, context, &creation)
      try replaceList(property.column, key, values, keepsEqual: creation.update != .all, creation.write)
    }
    context.didChangeValue(key, ordinal)
  }

  private func element(
    _ given: Any?, _ property: PropertySchema, of type: String, _ creation: inout Creation
  ) throws(StoreError) -> Value {
    guard property.isRelationship else {
      var given = given
      if property.valueType == .mixed {
        if refers(given, creation.write) { given = try linked(given, of: property, creation.write) }
        try AnyValue.check(given, for: identity)
      }
      return try Value(given, for: property, of: type)
    }
    guard let given = Value.unwrapped(given), !Value.isNull(given) else {
      if property.isScalar { return .null }
      throw .typeMismatch(nil, property)
    }
    if let object = given as? any Model {
      guard Swift.type(of: object)._$name == property.target else { throw .typeMismatch(given, property) }
      return .link(ObjectKey(try keyOfAdded(object)))
    }
    if let link = given as? Value, case .link = link {
      try creation.write.checkLink(link, property)
      return link
    }
    guard let nested = given as? [String: Any?], let target = model(named: property.target) else {
      throw .typeMismatch(given, property)
    }
    if let reference = nested[GraphName.reference] {
      return try referred(Value.unwrapped(reference), property, target, creation)
    }
    return .link(ObjectKey(try create(target, nested, &creation)))
  }

  private func referred(
    _ reference: Any?, _ property: PropertySchema, _ target: any Model.Type, _ creation: Creation
  ) throws(StoreError) -> Value {
    if let number = reference as? any BinaryInteger, let known = creation.objects[Int64(clamping: number)],
      known.type == property.target
    {
      return .link(ObjectKey(known.key))
    }
    if let identifier = reference as? String, let table = creation.write.transaction.catalog[target._$name],
      let key = try key(table, identifier: identifier, creation.write)
    {
      return .link(key)
    }
    throw .unresolved(reference, property)
  }

  func model(named name: String?) -> (any Model.Type)? { name.flatMap { configuration.model(named: $0) } }

  private func write(
    _ value: Value, to column: ColumnID, _ key: Int64, _ context: ModelContext, _ write: RecordedTransaction
  ) throws(StoreError) {
    do throws(StorageError) {
      try write.set(column, ObjectKey(key), value)
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: context.schema.name, key: key, value: value)
    }
  }

  /// Replaces a list's elements. `keepsEqual`: does nothing if they are equal already.
  func replaceList(
    _ column: ColumnID, _ key: Int64, _ values: [Value], keepsEqual: Bool, _ write: RecordedTransaction
  ) throws(StoreError) {
    try storing { () throws(StorageError) in
      let count = try write.transaction.elementCount(column, ObjectKey(key))
      if keepsEqual, count == values.count, try write.transaction.values(column, ObjectKey(key), 0..<count) == values {
        return
      }
      if count > 0 { try write.edit(column, ObjectKey(key), .clear) }
      if !values.isEmpty { try write.edit(column, ObjectKey(key), .insert(at: 0, values)) }
    }
  }
}
