#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import ChangeTracker
import StorageInterface
import StoreValues

/// Makes a store from the JSON that Realm Studio exports ("Save data", "JSON").
///
/// The export has values but no types, so the caller supplies the schema: from a store that the program made (`SchemaText`), or
/// written by hand. The export has already lost what JSON cannot represent: integers beyond 2⁵³ are rounded, fractions of
/// milliseconds are dropped, infinities and NaN are null, and dates, UUIDs and data in mixed values are strings.
public enum RealmImport {
  /// Puts the objects into `target`, which must be empty, in one commit: each type in file order, embedded objects as they are met.
  /// Inverses and derived properties are computed. Status `.usage` if `json` is not such an export, or does not fit the schema.
  public static func run(_ json: Data, schema: Schema, into target: any StorageEngine) throws(InspectionError) {
    guard let file = try? JSONDecoder().decode([String: [[String: JSONNode]]].self, from: json) else {
      throw InspectionError(.usage, "This is no JSON export of Realm Studio: an object with a list of objects for each type.")
    }
    let catalog: Catalog
    do throws(CatalogConflict) { catalog = try Catalog().adopting(schema).catalog } catch {
      throw InspectionError(.usage, error.faults.map { DisplayText.escaped("\($0)") }.joined(separator: "; "))
    }
    let export = try RealmExport(file, catalog)
    do throws(StorageError) {
      let write = try target.beginWrite(.never)
      defer { write.end() }
      guard write.catalog.tables.isEmpty else {
        throw StorageError(.misuse, .engine, "There is a store at the target already.", remedy: "Name a file that does not exist.")
      }
      var writer = try GraphWriter(write, catalog)
      let reader = RealmReader(export)
      for table in catalog.tables {
        try writer.insert(table, keys(of: table, export)) { (column, key) throws(StorageError) in
          try reader.scalar(column, of: table, key)
        }
      }
      for table in catalog.tables {
        try writer.fill(table, keys(of: table, export)) { (column, key) throws(StorageError) in
          try reader.content(column, of: table, key)
        }
      }
      try RecordedTransaction(write, origin: 0).deriveAll()
      _ = try write.commit(writer.record, .full)
    } catch {
      if error.code == .typeMismatch || error.code == .uniqueViolation {
        throw InspectionError(.usage, DisplayText.escaped(error.message))
      }
      throw InspectionError(error)
    }
  }

  private static func keys(of table: TableEntry, _ export: RealmExport) -> [Int64] {
    let count = export.count(of: table.id)
    return count == 0 ? [] : Array(1...Int64(count))
  }
}

/// Reads values of an export by the types of the schema.
struct RealmReader {
  private let export: RealmExport

  init(_ export: RealmExport) { self.export = export }

  private func node(_ column: ColumnEntry, of table: TableEntry, _ key: ObjectKey) -> JSONNode? {
    export.objects[table.id]?[Int(key.rawValue) - 1][column.schema.name]
  }

  /// A scalar that is no link; nil for the default.
  func scalar(_ column: ColumnEntry, of table: TableEntry, _ key: ObjectKey) throws(StorageError) -> Value? {
    guard case .scalar(let type) = column.schema.kind, column.schema.derivation == nil,
      let node = node(column, of: table, key)
    else { return nil }
    return try value(node, type, Place(table: table, column: column, key: key.rawValue, position: 0))
  }

  /// What a column holds that is no plain scalar; nil for nothing.
  func content(_ column: ColumnEntry, of table: TableEntry, _ key: ObjectKey) throws(StorageError) -> GraphContent? {
    guard let node = node(column, of: table, key) else { return nil }
    if case .null = node { return nil }
    var place = Place(table: table, column: column, key: key.rawValue, position: 0)
    switch (column.schema.kind, node) {
    case (.scalar(let type), _): return .scalar(try value(node, type, place))
    case (.list(let type), .array(let nodes)), (.set(let type), .array(let nodes)):
      var values: [Value] = []
      for (position, node) in nodes.enumerated() {
        place.position = position
        values.append(try value(node, type, place))
      }
      return .elements(values)
    case (.map(let type), .object(let members)):
      var entries: [ValueMap.Entry] = []
      for (position, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        place.position = position
        entries.append(ValueMap.Entry(member.key, try value(member.value, type, place)))
      }
      return .entries(entries)
    default: throw place.wrong
    }
  }

  /// Where a value stands.
  private struct Place {
    let table: TableEntry
    let column: ColumnEntry
    let key: Int64
    var position: Int

    var wrong: StorageError {
      StorageError(
        .typeMismatch, .transaction,
        "'\(table.name).\(column.schema.name)' of object \(key) has a value in the export that is no \(column.schema.kind.label).")
    }
  }

  private func value(_ node: JSONNode, _ type: ValueType, _ place: Place) throws(StorageError) -> Value {
    if case .null = node {
      if place.column.schema.mayBeNull { return .null }
      // What JSON has no number for.
      if type == .double { return .double(.nan) }
      if type == .float { return .float(.nan) }
      throw place.wrong
    }
    guard let value = try convert(node, type, place), value.isNull || value.fits(type) else { throw place.wrong }
    return value
  }

  private func convert(_ node: JSONNode, _ type: ValueType, _ place: Place) throws(StorageError) -> Value? {
    switch (type, node) {
    case (.bool, .bool(let truth)): return .bool(truth)
    case (.int8, .int(let x)), (.int16, .int(let x)), (.int32, .int(let x)), (.int64, .int(let x)): return .int(x)
    case (.int64, .double(let x)): return Int64(exactly: x).map { .int($0) }
    case (.double, .int(let x)): return .double(Double(x))
    case (.double, .double(let x)): return .double(x)
    case (.float, .int(let x)): return .float(Float(x))
    case (.float, .double(let x)): return .float(Float(x))
    case (.string, .string(let text)): return .string(text)
    case (.data, .string(let text)): return Data(base64Encoded: text).map { .data($0) }
    case (.date, .string(let text)): return Timestamp(text).map { .date($0) }
    case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
    case (.objectId, .string(let text)): return ObjectId(text).map { .objectId($0) }
    case (.objectId, .object(let members)): return members["$oid"].flatMap(text).flatMap { ObjectId($0) }.map { .objectId($0) }
    case (.decimal, .object(let members)):
      return members["$numberDecimal"].flatMap(text).flatMap { Decimal128($0) }.map { .decimal($0) }
    case (.decimal, .string(let text)): return Decimal128(text).map { .decimal($0) }
    case (.decimal, .int(let x)): return Decimal128(String(x)).map { .decimal($0) }
    case (.decimal, .double(let x)): return Decimal128("\(x)").map { .decimal($0) }
    case (.link, _): return try link(node, place)
    case (.mixed, _): return mixed(node)
    default: return nil
    }
  }

  private func link(_ node: JSONNode, _ place: Place) throws(StorageError) -> Value {
    let column = place.table.column(place.column.id)
    guard let target = place.column.schema.target.flatMap({ export.catalog[$0] }),
      let key = export.key(node, of: target.id, in: column, place.key, place.position)
    else { throw place.wrong }
    return .link(ObjectKey(key))
  }

  /// A value of any type: what JSON says it is.
  private func mixed(_ node: JSONNode) -> Value? {
    switch node {
    case .null: return .null
    case .bool(let truth): return .bool(truth)
    case .int(let x): return .int(x)
    case .double(let x): return .double(x)
    case .string(let text): return .string(text)
    case .array(let nodes):
      let values = nodes.compactMap(mixed)
      return values.count == nodes.count ? .list(values) : nil
    case .object(let members):
      if let reference = (members["$refId"] ?? members["$ref"]).flatMap(text) { return export.object(reference).map { .object($0) } }
      if members.count == 1, let decimal = members["$numberDecimal"].flatMap(text) { return Decimal128(decimal).map { .decimal($0) } }
      var entries: [ValueMap.Entry] = []
      for (key, node) in members {
        guard let value = mixed(node) else { return nil }
        entries.append(ValueMap.Entry(key, value))
      }
      return .map(ValueMap(entries))
    }
  }

  private func text(_ node: JSONNode) -> String? { if case .string(let text) = node { text } else { nil } }
}
