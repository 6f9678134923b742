import StoreValues

/// The schema as a file holds it: the declared schema plus the numbers that storage uses.
///
/// The catalog is part of each version: a transaction reads with the catalog of its version. It lists
/// everything a program needs to read the file without the Swift types. Engines keep it as JSON; a build that
/// adds a case to what is in it raises its engines' format numbers, so that an older build says so at open.
public struct Catalog: Sendable, Hashable, Codable {
  /// Every stored type, in the order of being stored first.
  public internal(set) var tables: [TableEntry] = []
  /// Ids are given out from here and never reused, also after a table or index is gone.
  var nextTable: UInt16 = 1
  var nextIndex: UInt16 = 1
  /// See `schemaVersion` and `completedMigrations`; nil in files of builds that had none.
  var givenSchemaVersion: UInt64?
  var givenMigrations: [CompletedMigration]?
  /// Which store this is the catalog of. nil where nobody gave it one yet: in files of builds that had none, and for an engine that
  /// is used without `Vivarium`, whose opening for writing puts it there.
  public package(set) var identity: StoreIdentity?
  /// See `hasSideEntries`; nil in files of builds that had none.
  var sides: Bool?

  /// The catalog of an empty file.
  public init() {}

  /// Refuses what no build writes (`fault`), whoever decodes it.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tables = try container.decode([TableEntry].self, forKey: .tables)
    nextTable = try container.decode(UInt16.self, forKey: .nextTable)
    nextIndex = try container.decode(UInt16.self, forKey: .nextIndex)
    givenSchemaVersion = try container.decodeIfPresent(UInt64.self, forKey: .givenSchemaVersion)
    identity = try container.decodeIfPresent(StoreIdentity.self, forKey: .identity)
    givenMigrations = try container.decodeIfPresent([CompletedMigration].self, forKey: .givenMigrations)
    sides = try container.decodeIfPresent(Bool.self, forKey: .sides)
    if let fault { throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "In this catalog \(fault).")) }
  }

  /// A table by its number; nil where there is none. O(tables).
  public subscript(id: TableID) -> TableEntry? { tables.indices.first { tables[$0].id == id }.map { tables[$0] } }
  // By position: `first(where:)` would copy each entry that it looks at.
  /// A table by the name of its type; nil where there is none. O(tables).
  public subscript(name: String) -> TableEntry? { tables.indices.first { tables[$0].name == name }.map { tables[$0] } }
  /// A column by its table and number; nil where there is none.
  public subscript(column: ColumnID) -> ColumnEntry? { self[column.table]?[column.property] }

  /// Whether the tables of both are the same memory, as those of copies of one catalog are. O(1).
  package func isIdentical(to other: Catalog) -> Bool {
    tables.withUnsafeBufferPointer { own in
      other.tables.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
    }
  }

  /// The newest format of an engine's files that builds know. What is in a file says which it is of: see `formatNeeded`.
  package static let formatMax = 5

  /// The lowest format of an engine's files that holds what the catalog describes: 2 has ObjectIds, decimals, sets, maps
  /// and embedded types, 3 has dates as nanoseconds, also in mixed properties, 4 has indexes of words, 5 has side entries.
  package var formatNeeded: Int {
    if hasSideEntries { return 5 }
    if tables.contains(where: { !$0.textIndexes.isEmpty }) { return 4 }
    if hasDates { return 3 }
    let needs2 = tables.contains { table in
      table.isEmbedded
        || table.columns.contains { column in
          let schema = column.schema
          return schema.isSet || schema.isMap || [.objectId, .decimal, .mixed].contains(schema.valueType)
        }
    }
    return needs2 ? 2 : 1
  }

  private var hasDates: Bool {
    tables.contains { table in table.columns.contains { [.date, .mixed].contains($0.schema.valueType) && !$0.isRetired } }
  }

  /// Throws `.unsupportedVersion` for a file of a format in which dates were Doubles: nobody could tell from a value which it is.
  package func check(format: Int) throws(StorageError) {
    if format >= 3 || !hasDates { return }
    throw StorageError(
      .unsupportedVersion, .engine, "The store has format \(format), whose dates are Doubles; this build keeps nanoseconds.",
      remedy: "Export it with the build that wrote it, and import that.")
  }
}

/// One stored type.
public struct TableEntry: Sendable, Hashable, Codable {
  /// Its number, for good.
  public let id: TableID
  /// The name of the type; renaming a type changes nothing else.
  public internal(set) var name: String
  /// Every property, inverses included, in the order they were first stored. The position of a column in
  /// this array is its slot in a `RowBuffer`.
  public internal(set) var columns: [ColumnEntry]
  /// Every index over columns, that of the primary key included.
  public internal(set) var indexes: [IndexEntry]
  var nextProperty: UInt16
  /// nil in files of builds that had no embedded types.
  var embedded: Bool?
  /// nil where there are none, and in files of builds that had none.
  var texts: [TextIndexEntry]?

  /// The indexes of the words of texts. They are no part of `indexes`: what they have of an object is any number of entries.
  public internal(set) var textIndexes: [TextIndexEntry] {
    get { texts ?? [] }
    set { texts = newValue.isEmpty ? nil : newValue }
  }

  /// Whether objects are embedded in others (`ObjectSchema.isEmbedded`).
  public var isEmbedded: Bool { embedded ?? false }

  // By position, as of tables.
  /// A column by its number; nil where there is none. O(columns).
  public subscript(id: PropertyID) -> ColumnEntry? { slot(of: id).map { columns[$0] } }
  /// A column by the property's name; nil where there is none. O(columns).
  public subscript(name: String) -> ColumnEntry? { columns.indices.first { columns[$0].schema.name == name }.map { columns[$0] } }
  /// The place of a column in a `RowBuffer`; nil where there is none.
  public func slot(of id: PropertyID) -> Int? { columns.indices.first { columns[$0].id == id } }
  /// How storage addresses a property of this table.
  public func column(_ property: PropertyID) -> ColumnID { ColumnID(id, property) }
  /// The column that is the primary key; nil where there is none.
  public var primaryKey: ColumnEntry? { columns.first { $0.schema.isPrimaryKey } }
  /// The unique index of the primary key.
  public var primaryIndex: IndexEntry? { primaryKey.flatMap { key in indexes.first { $0.properties == [key.id] && $0.isUnique } } }
}

/// One stored property.
public struct ColumnEntry: Sendable, Hashable, Codable {
  /// Its number, for good.
  public let id: PropertyID
  /// The property as it was declared when it was adopted last.
  public internal(set) var schema: PropertySchema

  /// What the column reads as where nothing was stored for an object: null, or the declared default, or the
  /// zero of the type.
  public var absentValue: Value {
    guard case .scalar(let type) = schema.kind else { return .null }
    if schema.mayBeNull { return .null }
    return schema.defaultValue?.value(as: type) ?? Value.zero(of: type)
  }
}

/// One stored index of the words of a string column, as `TEXT` knows words. An engine that keeps none leaves it be:
/// see `TextIndexReading`.
public struct TextIndexEntry: Sendable, Hashable, Codable {
  /// Its number, for good.
  public let id: IndexID
  /// The string column whose words it has.
  public let property: PropertyID
  /// The rules by which texts were cut into words (`TextWords.rules`). An index by others is made anew.
  public let rules: Int
}

/// One stored index over one or more scalar columns of a table.
public struct IndexEntry: Sendable, Hashable, Codable {
  /// Its number, for good.
  public let id: IndexID
  /// The columns it is over, first to last.
  public let properties: [PropertyID]
  /// Whether no two objects may have the same values.
  public let isUnique: Bool
}
