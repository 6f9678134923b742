import StorageInterface
import StoreValues
import VivariumTestSupport

/// Everything a transaction shows, as plain values: to compare two versions, or two engines.
public struct Picture: Hashable, Sendable {
  /// Objects by table name and key: scalars, lists, sets and maps by name.
  public var rows: [String: [Int64: Row]] = [:]
  /// Keys in order of each index.
  public var indexes: [IndexID: [Int64]] = [:]
  /// Owners by relationship or mixed property, and target.
  public var backlinks: [ColumnID: [ObjectLink: [Int64]]] = [:]

  /// One object as plain values.
  public struct Row: Hashable, Sendable {
    /// Values by the names of their properties.
    public var scalars: [String: Value] = [:]
    /// Sets too, in their order. Without empty ones.
    public var lists: [String: [Value]] = [:]
    /// Without empty ones.
    public var maps: [String: [ValueMap.Entry]] = [:]
  }

  /// Reads every table of the catalog.
  public init(_ tx: any StorageReading) throws {
    for table in tx.catalog.tables { try add(table, tx) }
  }

  init(_ tx: any StorageReading, _ store: ConformanceStore) throws { try self.init(tx) }

  private mutating func add(_ table: TableEntry, _ tx: any StorageReading) throws {
    let scalars = table.columns.filter { $0.schema.isScalar }.map(\.schema.name)
    let scanned = try tx.allRows(table, scalars)
    try expectEqual(try tx.count(table.id), scanned.count, "count of \(table.name)")
    var rows: [Int64: Row] = [:]
    for (key, values) in scanned {
      var row = Row(scalars: Dictionary(uniqueKeysWithValues: zip(scalars, values)))
      for column in table.columns where column.schema.isMap {
        let entries = try tx.allEntries(table, column.schema.name, ObjectKey(key))
        if !entries.isEmpty { row.maps[column.schema.name] = entries }
      }
      for column in table.columns where column.schema.isList || column.schema.isSet {
        let list = try tx.allValues(table, column.schema.name, ObjectKey(key))
        if !list.isEmpty { row.lists[column.schema.name] = list }
      }
      rows[key] = row
    }
    self.rows[table.name] = rows
    for index in table.indexes {
      let keys = try tx.allKeys(in: index.id)
      try expectEqual(try tx.count(in: index.id, .all), keys.count, "count in index \(index.id.rawValue)")
      indexes[index.id] = keys
    }
    for column in table.columns where column.schema.isStored && column.schema.valueType?.mayLink == true {
      try addBacklinks(table, column, tx)
    }
  }

  private mutating func addBacklinks(_ table: TableEntry, _ column: ColumnEntry, _ tx: any StorageReading) throws {
    let id = table.column(column.id)
    for target in tx.catalog.tables where column.schema.valueType == .mixed || column.schema.target == target.name {
      let keys = try tx.allRows(target, []).map(\.key)
      // An open write may name more.
      let named = Set(try tx.linked(keys, in: target.id, through: id))
      for key in keys {
        let link = ObjectLink(target.id, ObjectKey(key))
        let sources = try tx.allSources(of: link, through: id)
        if !sources.isEmpty {
          backlinks[id, default: [:]][link] = sources
          try expect(named.contains(key), "\(link) has backlinks, and is not named as linked")
        }
        if column.schema.isRelationship {
          try expectEqual(try tx.allSources(of: link.key, through: id), sources, "sources of \(link) by key")
        }
      }
    }
  }
}
