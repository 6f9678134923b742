import StorageInterface
import StoreValues

/// The meaning of an entry, read from its key: the inverse of `EntryKey`.
enum EntryName {
  case header, catalog
  /// The record or the fresh rows of a table.
  case table(TableID)
  case chunkMap(TableID, Int64)
  case column(TableID, PropertyID, Int64)
  /// A long value, or a piece of a list, of one object.
  case value(TableID, PropertyID, Int64)
  /// The record or a block of an index.
  case index(IndexReference)
  case history(UInt64)
  case side

  /// Nil for a key that the format does not define.
  init?(_ key: UnsafeRawBufferPointer) {
    guard !key.isEmpty, let start = key.baseAddress, let space = EntryKey.Space(rawValue: key[0]) else { return nil }
    func number<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T? {
      guard offset + MemoryLayout<T>.size <= key.count else { return nil }
      return T(bigEndian: start.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    func length(_ count: Int) -> Bool { key.count == count }
    let table = number(1, UInt16.self).map { TableID($0) }
    let property = number(3, UInt16.self).map { PropertyID($0) }
    switch space {
    case .header where length(1): self = .header
    case .catalog where length(1): self = .catalog
    case .tableRecord, .freshRows:
      guard let table, length(3) else { return nil }
      self = .table(table)
    case .chunkMap:
      guard let table, let number = number(3, UInt64.self), length(11) else { return nil }
      self = .chunkMap(table, Int64(bitPattern: number))
    case .column:
      guard let table, let property, let number = number(5, UInt64.self), length(13) else { return nil }
      self = .column(table, property, Int64(bitPattern: number))
    case .externalValue, .listSegment:
      guard let table, let property, let owner = number(5, UInt64.self), length(space == .listSegment ? 17 : 13)
      else { return nil }
      self = .value(table, property, Int64(bitPattern: owner))
    case .indexRecord, .indexBlock:
      guard let index = number(1, UInt16.self), space == .indexBlock || length(3) else { return nil }
      self = .index(.index(IndexID(index)))
    case .backlinkRecord, .backlinkBlock:
      guard let table, let property, space == .backlinkBlock || length(5) else { return nil }
      self = .index(.backlinks(ColumnID(table, property)))
    case .history:
      guard let version = number(1, UInt64.self), length(9) else { return nil }
      self = .history(version)
    case .side where (2...SideKey.countMax + 1).contains(key.count): self = .side
    case .header, .catalog, .side: return nil
    }
  }

  /// A description of the place, with the names of a catalog.
  func place(in catalog: Catalog?) -> String {
    func name(_ table: TableID) -> String { catalog?[table].map { "'\($0.name)'" } ?? "table \(table.rawValue)" }
    func name(_ table: TableID, _ property: PropertyID) -> String {
      let column = catalog?[ColumnID(table, property)]
      return column.map { "'\(catalog?[table]?.name ?? "").\($0.schema.name)'" } ?? "property \(property.rawValue) of \(name(table))"
    }
    switch self {
    case .header: return "the header"
    case .catalog: return "the catalog"
    case .table(let table): return "a record of \(name(table))"
    case .chunkMap(let table, let number): return "the map of chunk \(number) of \(name(table))"
    case .column(let table, let property, let number): return "chunk \(number) of \(name(table, property))"
    case .value(let table, let property, let owner): return "a value of #\(owner) in \(name(table, property))"
    case .index(.index(let index)): return catalog.flatMap { EntryName.place(of: index, in: $0) } ?? "index \(index.rawValue)"
    case .index(.backlinks(let column)): return "the backlinks of \(name(column.table, column.property))"
    case .history(let version): return "the commit record of version \(version)"
    case .side: return "a side entry"
    }
  }

  private static func place(of index: IndexID, in catalog: Catalog) -> String? {
    for table in catalog.tables {
      if let text = table.textIndexes.first(where: { $0.id == index }) {
        return "the words of '\(table.name).\(table[text.property]?.schema.name ?? "")'"
      }
      guard let found = table.indexes.first(where: { $0.id == index }) else { continue }
      return "the index of '\(table.name)' by \(found.properties.map { table[$0]?.schema.name ?? "?" }.joined(separator: ", "))"
    }
    return nil
  }

  /// A key in hexadecimal, for messages.
  static func text(_ key: UnsafeRawBufferPointer) -> String {
    key.prefix(24).map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
  }
}

/// The place of a key's entry for an adapter's messages. It names tables and properties by number, because an adapter knows no
/// names.
package func entryPlace(of key: UnsafeRawBufferPointer) -> String {
  EntryName(key)?.place(in: nil) ?? "entry \(EntryName.text(key))"
}
