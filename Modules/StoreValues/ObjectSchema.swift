/// An index over several properties, in that order. Single-property indexes are marked on the property.
public struct IndexSchema: Sendable, Hashable, Codable {
  /// Names of scalar properties, first to last.
  public var properties: [String]
  /// Whether no two objects may have the same values, as `Value.order(to:)` says it (0.0 is the same as −0.0).
  /// A null is the same as nothing: any number of objects may have it, also in one column of several.
  public var isUnique: Bool

  public init(properties: [String], isUnique: Bool) {
    self.properties = properties
    self.isUnique = isUnique
  }
}

/// One model type: its name and its properties in the order of declaration.
public struct ObjectSchema: Sendable, Hashable, Codable {
  /// What identifies the type, in programs and files.
  public var name: String
  /// In the order of declaration, inverses included.
  public var properties: [PropertySchema]
  /// Compound indexes.
  public var indexes: [IndexSchema]
  /// Whether every object is owned by exactly one link of another object, and deleted with it: alone, in a list or
  /// in a map, never in a set. It has no primary key, and types cannot embed each other in a circle.
  public var isEmbedded: Bool
  /// Properties that have another name in older files.
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

  /// The property that is the primary key; nil where there is none.
  public var primaryKey: PropertySchema? { properties.first { $0.isPrimaryKey } }
  /// A property by its name; nil where there is none. O(properties).
  public func property(named name: String) -> PropertySchema? { properties.first { $0.name == name } }

  /// Every index the type asks for: single ones first, in property order, then compound ones. The primary
  /// key is a unique index.
  public var allIndexes: [IndexSchema] {
    properties.filter { $0.isPrimaryKey || $0.isIndexed || $0.isUnique }
      .map { IndexSchema(properties: [$0.name], isUnique: $0.isPrimaryKey || $0.isUnique) } + indexes
  }
}

/// That a property has another name than in older files: `@Renamed(from:)`.
public struct PropertyRename: Sendable, Hashable, Codable {
  /// What older files call it.
  public var from: String
  /// What the program calls it.
  public var to: String

  /// One property's two names.
  public init(from: String, to: String) {
    self.from = from
    self.to = to
  }
}

/// The types of a store, as the program declares them.
public struct Schema: Sendable, Hashable, Codable {
  /// In no particular order; each name once.
  public var objects: [ObjectSchema]

  /// The schema of these types. Nothing is checked yet.
  public init(_ objects: [ObjectSchema]) { self.objects = objects }

  /// A type by its name; nil where there is none. O(types).
  public subscript(name: String) -> ObjectSchema? { objects.first { $0.name == name } }
}

/// A Swift type that has a schema: every `@Model` class. It lives this far down so that an engine's module
/// can offer `.lmdb(url, models: Person.self)` without importing the module that people import.
public protocol SchemaDescribing: SendableMetatype {
  static var _$schema: ObjectSchema { get }
  /// The type whose objects the store makes: of a struct, the class behind it.
  static var _$objectType: ObjectIdentifier { get }
}

extension SchemaDescribing {
  public static var _$objectType: ObjectIdentifier { ObjectIdentifier(Self.self) }
}
