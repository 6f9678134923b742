/// An index over several properties, in that order. Single-property indexes are declared on the property.
public struct IndexSchema: Sendable, Hashable, Codable {
  /// Names of scalar properties, in key order.
  public var properties: [String]
  /// Whether no two objects may have the same values, by `Value.order(to:)` (0.0 equals −0.0). Null never conflicts: any number
  /// of objects may have it, also in one column of several.
  public var isUnique: Bool

  public init(properties: [String], isUnique: Bool) {
    self.properties = properties
    self.isUnique = isUnique
  }
}

/// A model type: its name and its properties in declaration order.
public struct ObjectSchema: Sendable, Hashable, Codable {
  /// Identifies the type, in programs and files.
  public var name: String
  /// In declaration order, including inverses.
  public var properties: [PropertySchema]
  /// Compound indexes.
  public var indexes: [IndexSchema]
  /// Whether every object is owned by exactly one link of another object, and deleted with it: a to-one link, a list or a map,
  /// never a set. Such a type has no primary key, and types cannot embed each other in a cycle.
  public var isEmbedded: Bool
  /// Properties with a different name in older files.
  public var renames: [PropertyRename]

  public init(
    name: String, properties: [PropertySchema], indexes: [IndexSchema] = [], isEmbedded: Bool = false,
    renames: [PropertyRename] = []
  ) {
    self.name = name
    self.properties = properties
    self.indexes = indexes
    self.isEmbedded = isEmbedded
    self.renames = renames
  }

  /// The property that is the primary key; nil if there is none.
  public var primaryKey: PropertySchema? { properties.first { $0.isPrimaryKey } }
  /// A property by its name; nil if there is none. O(properties).
  public func property(named name: String) -> PropertySchema? { properties.first { $0.name == name } }

  /// All indexes of the type: single-property ones first, in property order, then compound ones. The primary key has a unique
  /// index.
  public var allIndexes: [IndexSchema] {
    properties.filter { $0.isPrimaryKey || $0.isIndexed || $0.isUnique }
      .map { IndexSchema(properties: [$0.name], isUnique: $0.isPrimaryKey || $0.isUnique) } + indexes
  }
}

/// A property's different name in older files: `@Renamed(from:)`.
public struct PropertyRename: Sendable, Hashable, Codable {
  /// The name in older files.
  public var from: String
  /// The name in the program.
  public var to: String

  /// Renames a property.
  public init(from: String, to: String) {
    self.from = from
    self.to = to
  }
}

/// The types of a store, as declared by the program.
public struct Schema: Sendable, Hashable, Codable {
  /// In no particular order; each name once.
  public var objects: [ObjectSchema]

  /// The schema of these types. Validates nothing.
  public init(_ objects: [ObjectSchema]) { self.objects = objects }

  /// A type by its name; nil if there is none. O(types).
  public subscript(name: String) -> ObjectSchema? { objects.first { $0.name == name } }
}

/// A Swift type with a schema: every `@Model` class. Defined at this low level so that an engine's module can offer `.lmdb(url,
/// models: Person.self)` without importing `Vivarium`.
public protocol SchemaDescribing: SendableMetatype {
  static var _$schema: ObjectSchema { get }
  /// The type whose objects the store creates: for a struct, the class behind it.
  static var _$objectType: ObjectIdentifier { get }
}

extension SchemaDescribing {
  public static var _$objectType: ObjectIdentifier { ObjectIdentifier(Self.self) }
}
