import StorageInterface
import StoreValues

extension PropertySchema {
  /// A scalar: `.scalar("age", .int64, indexed: true)`.
  public static func scalar(
    _ name: String, _ type: ValueType, optional: Bool = false, primaryKey: Bool = false, indexed: Bool = false,
    unique: Bool = false, fullText: Bool = false, default value: Value? = nil
  ) -> PropertySchema {
    PropertySchema(
      name: name, kind: .scalar(type), isOptional: optional || type == .mixed, isPrimaryKey: primaryKey, isIndexed: indexed,
      isUnique: unique, defaultValue: value.flatMap { DefaultValue($0) }, isFullText: fullText)
  }

  /// A to-one relationship.
  public static func link(_ name: String, to target: String, indexed: Bool = false) -> PropertySchema {
    PropertySchema(name: name, kind: .scalar(.link), isOptional: true, target: target, isIndexed: indexed)
  }

  /// A list of values.
  public static func list(_ name: String, of type: ValueType, optional: Bool = false) -> PropertySchema {
    PropertySchema(name: name, kind: .list(type), isOptional: optional || type == .mixed)
  }

  /// A list of objects.
  public static func list(_ name: String, ofLinksTo target: String) -> PropertySchema {
    PropertySchema(name: name, kind: .list(.link), target: target)
  }

  /// A set of values.
  public static func set(_ name: String, of type: ValueType, optional: Bool = false) -> PropertySchema {
    PropertySchema(name: name, kind: .set(type), isOptional: optional || type == .mixed)
  }

  /// A set of objects.
  public static func set(_ name: String, ofLinksTo target: String) -> PropertySchema {
    PropertySchema(name: name, kind: .set(.link), target: target)
  }

  /// A map of values.
  public static func map(_ name: String, of type: ValueType, optional: Bool = false) -> PropertySchema {
    PropertySchema(name: name, kind: .map(type), isOptional: optional || type == .mixed)
  }

  /// A map of objects, whose values may be null.
  public static func map(_ name: String, ofLinksTo target: String) -> PropertySchema {
    PropertySchema(name: name, kind: .map(.link), isOptional: true, target: target)
  }

  /// The other end of a relationship.
  public static func inverse(_ name: String, of origin: String, _ property: String) -> PropertySchema {
    PropertySchema(name: name, kind: .linkingObjects(origin: origin, property: property))
  }
}

extension ObjectSchema {
  /// `ObjectSchema("Person", .scalar("name", .string), .link("best", to: "Dog"))`.
  public init(_ name: String, _ properties: PropertySchema..., indexes: [IndexSchema] = [], embedded: Bool = false) {
    self.init(name: name, properties: properties, indexes: indexes, isEmbedded: embedded)
  }
}

extension TableEntry {
  /// A property's column by name, for tests that know the schema. The id 0, which no column has, when there is
  /// none: the engine then says `.misuse`.
  public func id(_ name: String) -> PropertyID { self[name]?.id ?? PropertyID(0) }
  public func column(named name: String) -> ColumnID { column(id(name)) }
  /// The index over exactly these properties; the id 0 when there is none.
  public func index(_ properties: String...) -> IndexID {
    let ids = properties.map { id($0) }
    return indexes.first { $0.properties == ids }?.id ?? IndexID(0)
  }
}

extension StorageEngine {
  /// Writes in one transaction and commits with a record that names nothing.
  @discardableResult
  public func write(
    _ durability: Durability = .relaxed, record: CommitRecord = CommitRecord(),
    _ body: (any WriteTransaction) throws -> Void
  ) throws -> Version {
    let transaction = try beginWrite(.after(.seconds(600)))
    defer { transaction.end() }
    try body(transaction)
    return try transaction.commit(record, durability)
  }

  /// Takes over a schema in a commit of its own.
  @discardableResult
  public func adopt(_ schema: Schema) throws -> Catalog {
    var result = Catalog()
    try write(record: CommitRecord(changedCatalog: true)) { transaction in
      result = try transaction.catalog.adopting(schema).catalog
      try transaction.setCatalog(result)
    }
    return result
  }
}

extension WriteTransaction {
  /// Adds an object with the named scalars; the others are absent.
  @discardableResult
  public func insert(_ table: TableEntry, _ values: [String: Value] = [:]) throws(StorageError) -> ObjectKey {
    let row = RowBuffer(table)
    for (name, value) in values {
      guard let slot = table.slot(of: table.id(name)) else {
        throw StorageError(.misuse, .statement, "There is no property '\(name)'.")
      }
      row.set(slot, value)
    }
    return try insert(row)
  }
}
