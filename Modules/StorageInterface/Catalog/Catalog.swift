import StoreValues

/// The schema as a file holds it: the declared schema plus the numbers that storage uses.
///
/// The catalog is part of each version: a transaction reads with the catalog of its version. It lists everything a program
/// needs to read the file without the Swift types. Engines store it as JSON; a build that adds a case to its contents raises
/// its engines' format numbers, so that an older build reports that at open.
public struct Catalog: Sendable, Hashable, Codable {
  /// All stored types, in the order of their first use.
  public internal(set) var tables: [TableEntry] = []
  /// The next ids. Ids are never reused, even after a table or index is removed.
  var nextTable: UInt16 = 1
  var nextIndex: UInt16 = 1
  /// See `schemaVersion` and `completedMigrations`; nil in files of older builds.
  var givenSchemaVersion: UInt64?
  var givenMigrations: [CompletedMigration]?
  /// The identity of the store. nil if it has none yet: in files of older builds, and for an engine used without `Vivarium`,
  /// which assigns it when it opens a store for writing.
  public package(set) var identity: StoreIdentity?
  /// See `hasSideEntries`; nil in files of older builds.
  var sides: Bool?

  /// The catalog of an empty file.
  public init() {}

  /// Rejects a catalog that no build writes (`fault`).
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

  /// A table by its number; nil if there is none. O(tables).
  public subscript(id: TableID) -> TableEntry? { tables.indices.first { tables[$0].id == id }.map { tables[$0] } }
  // By position: `first(where:)` would copy each entry it visits.
  /// A table by the name of its type; nil if there is none. O(tables).
  public subscript(name: String) -> TableEntry? { tables.indices.first { tables[$0].name == name }.map { tables[$0] } }
  /// A column by its table and number; nil if there is none.
  public subscript(column: ColumnID) -> ColumnEntry? { self[column.table]?[column.property] }

  /// Whether the tables of both share memory, as copies of one catalog do. O(1).
  package func isIdentical(to other: Catalog) -> Bool {
    tables.withUnsafeBufferPointer { own in
      other.tables.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
    }
  }

  /// The newest format that contents determine: see `formatNeeded`. An engine may have newer ones for reasons of its own.
  package static let formatMax = 5

  /// The lowest format that can hold what the catalog describes: 2 has ObjectIds, decimals, sets, maps and embedded types, 3
  /// has dates as nanoseconds, also in mixed properties, 4 has indexes of words, 5 has side entries.
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

  /// Throws `.unsupportedVersion` for a file of a format in which dates were Doubles: the values themselves do not show which
  /// they are.
  package func check(format: Int) throws(StorageError) {
    if format >= 3 || !hasDates { return }
    throw StorageError(
      .unsupportedVersion, .engine, "The store has format \(format), whose dates are Doubles; this build keeps nanoseconds.",
      remedy: "Export it with the build that wrote it, and import that.")
  }
}

/// A stored type.
public struct TableEntry: Sendable, Hashable, Codable {
  /// Its permanent number.
  public let id: TableID
  /// The name of the type; renaming a type changes nothing else.
  public internal(set) var name: String
  /// All properties, inverses included, in the order of their first use. A column's position in this array is its slot in a
  /// `RowBuffer`.
  public internal(set) var columns: [ColumnEntry]
  /// All indexes over columns, including that of the primary key.
  public internal(set) var indexes: [IndexEntry]
  var nextProperty: UInt16
  /// nil in files of older builds.
  var embedded: Bool?
  /// nil if there are none, and in files of older builds.
  var texts: [TextIndexEntry]?

  /// The indexes of words. They are not in `indexes`, because they have any number of entries for an object.
  public internal(set) var textIndexes: [TextIndexEntry] {
    get { texts ?? [] }
    set { texts = newValue.isEmpty ? nil : newValue }
  }

  /// Whether objects are embedded in others (`ObjectSchema.isEmbedded`).
  public var isEmbedded: Bool { embedded ?? false }

  // By position, as for tables.
  /// A column by its number; nil if there is none. O(columns).
  public subscript(id: PropertyID) -> ColumnEntry? { slot(of: id).map { columns[$0] } }
  /// A column by the property's name; nil if there is none. O(columns).
  public subscript(name: String) -> ColumnEntry? { columns.indices.first { columns[$0].schema.name == name }.map { columns[$0] } }
  /// The slot of a column in a `RowBuffer`; nil if there is none.
  public func slot(of id: PropertyID) -> Int? { columns.indices.first { columns[$0].id == id } }
  /// The `ColumnID` of a property of this table.
  public func column(_ property: PropertyID) -> ColumnID { ColumnID(id, property) }
  /// The primary key's column; nil if there is none.
  public var primaryKey: ColumnEntry? { columns.first { $0.schema.isPrimaryKey } }
  /// The unique index of the primary key.
  public var primaryIndex: IndexEntry? { primaryKey.flatMap { key in indexes.first { $0.properties == [key.id] && $0.isUnique } } }
}

/// A stored property.
public struct ColumnEntry: Sendable, Hashable, Codable {
  /// Its permanent number.
  public let id: PropertyID
  /// The property as declared when last adopted.
  public internal(set) var schema: PropertySchema

  /// The value of objects for which none was stored: null, or the declared default, or the zero of the type.
  public var absentValue: Value {
    guard case .scalar(let type) = schema.kind else { return .null }
    if schema.mayBeNull { return .null }
    return schema.defaultValue?.value(as: type) ?? Value.zero(of: type)
  }
}

/// A stored index of the words of a string column, as `TEXT` defines words. An engine without such indexes ignores it: see
/// `TextIndexReading`.
public struct TextIndexEntry: Sendable, Hashable, Codable {
  /// Its permanent number.
  public let id: IndexID
  /// The string column whose words it indexes.
  public let property: PropertyID
  /// The rules by which texts were split into words (`TextWords.rules`). An index with other rules is rebuilt.
  public let rules: Int
}

/// A stored index over one or more scalar columns of a table.
public struct IndexEntry: Sendable, Hashable, Codable {
  /// Its permanent number.
  public let id: IndexID
  /// Its columns, in key order.
  public let properties: [PropertyID]
  /// Whether it forbids two objects with the same values.
  public let isUnique: Bool
}
