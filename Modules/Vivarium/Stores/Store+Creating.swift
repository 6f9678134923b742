import ChangeTracker
import Foundation
import Storage
import Values

extension Store {
  /// Makes an object from values by name, for data that comes as dictionaries: JSON, property lists, other tools.
  ///
  /// Values are Swift values of the property's type, nested dictionaries or objects for links, arrays of these for lists.
  /// `nil` and `NSNull` are null. A property that is not named has its default; without one `.missingValue` names type
  /// and property, and nothing was written. `.unknownProperty`, `.typeMismatch`, and what `add` throws.
  @discardableResult
  public func create<T: Model>(
    _ type: T.Type, value: [String: Any?], update: UpdatePolicy = .error
  ) throws(StoreError) -> T {
    let write = try openWrite(for: "Creating a \(T._$name)")
    return live(try create(type, value, update, write))
  }

  private func create<T: Model>(
    _ type: T.Type, _ values: [String: Any?], _ update: UpdatePolicy, _ write: RecordedTransaction
  ) throws(StoreError) -> Int64 {
    let context = context(type)
    for name in values.keys.sorted() where context.ordinal(named: name) == nil {
      throw .unknownProperty(name, of: T._$name)
    }
    // Links first: making their targets may need this type's row.
    var links: [Adoption.Pending] = []
    for (ordinal, property) in context.properties.enumerated() where property.schema.isStored {
      guard let given = values[property.schema.name], property.schema.isRelationship || property.schema.isList else {
        continue
      }
      links.append(try pending(given, ordinal, property.schema, update, write))
    }
    let adoption = try fill(T.self, context, values, write)
    let (key, _) = try insert(adoption, context, update, write)
    for link in links { try setLink(link, of: key, context, write) }
    return key
  }

  /// The row of a new object: defaults, then what is given.
  private func fill<T: Model>(
    _ type: T.Type, _ context: ModelContext, _ values: [String: Any?], _ write: RecordedTransaction
  ) throws(StoreError) -> Adoption {
    let adoption = try context.adoption(in: write.transaction.catalog)
    adoption.collectsMissing = true
    defer { adoption.collectsMissing = false }
    adoption.keepsEmptyLists = false
    try T(_$blank: ())._$fill(adoption)
    var missing = adoption.missing
    for (ordinal, property) in context.properties.enumerated() {
      guard case .scalar(let type) = property.schema.kind, type != .link,
        let given = values[property.schema.name]
      else { continue }
      let value = try Value(given, for: property.schema, of: T._$name)
      adoption.row.set(adoption.slots[ordinal], value)
      missing.removeAll { $0 == ordinal }
    }
    if let first = missing.first {
      throw .missingValue(type: T._$name, property: context.properties[first].schema.name)
    }
    return adoption
  }

  private func pending(
    _ given: Any?, _ ordinal: Int, _ property: PropertySchema, _ update: UpdatePolicy, _ write: RecordedTransaction
  ) throws(StoreError) -> Adoption.Pending {
    var elements: [Any?]
    if property.isList {
      guard let array = given as? [Any?] else { throw .typeMismatch(given, property) }
      elements = array
    } else {
      elements = Value.isNull(given) ? [] : [given]
    }
    var values: [Value] = []
    for element in elements {
      values.append(try self.element(element, property, update, write))
    }
    return Adoption.Pending(ordinal: ordinal, elements: .values(values), isList: property.isList)
  }

  private func element(
    _ given: Any?, _ property: PropertySchema, _ update: UpdatePolicy, _ write: RecordedTransaction
  ) throws(StoreError) -> Value {
    guard property.isRelationship else { return try Value(given, for: property, of: "list") }
    if let object = given as? any Model {
      guard Swift.type(of: object)._$name == property.target else { throw .typeMismatch(given, property) }
      return .link(ObjectKey(try keyOfAdded(object)))
    }
    guard let nested = given as? [String: Any?],
      let target = configuration.models.lazy.compactMap({ $0 as? any Model.Type }).first(where: { $0._$name == property.target })
    else { throw .typeMismatch(given, property) }
    return .link(ObjectKey(try create(target, nested, update, write)))
  }

  private func setLink(
    _ link: Adoption.Pending, of key: Int64, _ context: ModelContext, _ write: RecordedTransaction
  ) throws(StoreError) {
    guard case .values(let values) = link.elements else { return }
    let column = context.properties[link.ordinal].column
    defer { didChange(context) }
    try storing { () throws(StorageError) in
      if !link.isList {
        try write.set(column, ObjectKey(key), word: values.first?.word)
        return
      }
      try write.edit(column, ObjectKey(key), .clear)
      try write.edit(column, ObjectKey(key), .insert(at: 0, values))
    }
  }
}

extension StoreError {
  fileprivate static func typeMismatch(_ given: Any?, _ property: PropertySchema) -> StoreError {
    StoreError(
      .typeMismatch, "'\(property.name)' is \(property.kind.label), and was given \(given.map { "\($0)" } ?? "nil").",
      details: ["property": property.name])
  }
}

extension Value {
  fileprivate static func isNull(_ given: Any?) -> Bool {
    guard let given else { return true }
    if let value = given as? Value { return value.isNull }
    return given is NSNull
  }

  /// A loose value as one of a property.
  fileprivate init(_ given: Any?, for property: PropertySchema, of type: String) throws(StoreError) {
    guard let wanted = property.valueType else { throw .typeMismatch(given, property) }
    if Value.isNull(given) {
      guard property.isOptional else { throw .missingValue(type: type, property: property.name) }
      self = .null
      return
    }
    guard let value = Value.converted(given, to: wanted), value.fits(wanted) else { throw .typeMismatch(given, property) }
    self = value
  }

  /// Numbers become the property's kind of number where nothing is lost; text becomes a UUID.
  private static func converted(_ given: Any?, to type: ValueType) -> Value? {
    guard let given else { return .null }
    let value: Value
    switch given {
    case let boxed as Value: value = boxed
    case let scalar as any Scalar: value = scalar.persistedValue
    case let integer as any BinaryInteger:
      guard let exact = Int64(exactly: integer) else { return nil }
      value = .int(exact)
    default: return nil
    }
    switch (value, type) {
    case (.int(let x), .double): return Double(exactly: x).map { .double($0) }
    case (.int(let x), .float): return Float(exactly: x).map { .float($0) }
    case (.float(let x), .double): return .double(Double(x))
    case (.double(let x), .float): return .float(Float(x))
    case (.double(let x), .int8), (.double(let x), .int16), (.double(let x), .int32), (.double(let x), .int64):
      return Int64(exactly: x).map { .int($0) }
    case (.string(let text), .uuid): return UUID(uuidString: text).map { .uuid($0) }
    default: return value
    }
  }
}
