#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

extension Inspector {
  /// Prints the whole graph as one JSON document, from which `GraphImport` makes the same store again: the catalog, and every
  /// object of every type with its key, one object per line. Streams.
  public func export() throws(InspectionError) {
    try withSnapshot { read throws(InspectionError) in
      let buffer = OutputBuffer(output)
      var catalog: [UInt8] = []
      do {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        JSONText.append(json: String(decoding: try encoder.encode(read.catalog), as: UTF8.self), to: &catalog)
      } catch {
        throw InspectionError(.inputOutput, "The schema cannot be written as JSON: \(error)")
      }
      try buffer.put("{\"format\":\"vivarium-export\",\"formatVersion\":2,\"version\":\(read.version.rawValue),\n\"catalog\":")
      try buffer.put(catalog)
      try buffer.put(",\n\"objects\":{")
      let reader = GraphReader(read)
      for (position, table) in reader.tables.enumerated() {
        var title: [UInt8] = []
        JSONText.append(table.name, to: &title)
        try buffer.put((position == 0 ? "\n" : ",\n") + String(decoding: title, as: UTF8.self) + ":[")
        let keys: [Int64]
        do throws(StorageError) { keys = try reader.keys(of: table.id) } catch { throw InspectionError(error) }
        for (position, key) in keys.enumerated() {
          let line: [UInt8]
          do throws(StorageError) { line = try reader.line(table, key) } catch { throw InspectionError(error) }
          try buffer.put(Array((position == 0 ? "\n" : ",\n").utf8) + line)
        }
        try buffer.put("]")
      }
      try buffer.put("\n}}\n")
      try buffer.flush()
    }
  }

  /// Prints 16 hexadecimal digits that are equal for stores with equal contents, whatever their backends.
  public func digest() throws(InspectionError) {
    try withSnapshot { read throws(InspectionError) in
      let digest: UInt64
      do throws(StorageError) { digest = try GraphReader(read).digest() } catch { throw InspectionError(error) }
      let text = String(digest, radix: 16)
      try print(Array((String(repeating: "0", count: 16 - text.count) + text + "\n").utf8))
    }
  }
}

/// Makes a store from the output of `Inspector.export`.
public enum GraphImport {
  private struct Document: Decodable {
    var format: String
    var formatVersion: Int
    var catalog: Catalog
    var objects: [String: [[String: JSONNode]]]
  }

  /// Puts the graph into `target`, which must be empty, in one commit, and verifies the result. Status `.usage` if `json` is not an
  /// export or contradicts itself; `target` may then contain a commit and is unusable. What an object lacks of required properties,
  /// or has twice or under a name that is no property's, is refused before anything is written.
  public static func run(_ json: Data, into target: any StorageEngine) throws(InspectionError) {
    let document: Document
    do {
      document = try JSONDecoder().decode(Document.self, from: json)
    } catch {
      throw InspectionError(.usage, "This is no export of a store: \(DisplayText.escaped("\(error)"))")
    }
    guard document.format == "vivarium-export", 1...2 ~= document.formatVersion else {
      throw InspectionError(.usage, "This is an export of another kind: \(DisplayText.escaped(document.format)) \(document.formatVersion).")
    }
    for name in document.objects.keys where document.catalog[name] == nil {
      throw InspectionError(.usage, "The export has objects of '\(DisplayText.escaped(name))', a type that its catalog does not have.")
    }
    for table in document.catalog.tables {
      let check = ExportCheck(table)
      for object in document.objects[table.name] ?? [] { try check.check(object) }
    }
    do throws(StorageError) { try put(document, into: target) } catch {
      if error.code == .typeMismatch || error.code == .uniqueViolation || error.code == .tooLarge {
        throw InspectionError(.usage, DisplayText.escaped(error.message))
      }
      throw InspectionError(error)
    }
    try check(target)
  }

  private static func put(_ document: Document, into target: any StorageEngine) throws(StorageError) {
    let write = try target.beginWrite(.never)
    defer { write.end() }
    guard write.catalog.tables.isEmpty else {
      throw StorageError(.misuse, .engine, "There is a store at the target already.", remedy: "Name a file that does not exist.")
    }
    var writer = try GraphWriter(write, document.catalog)
    for table in document.catalog.tables { try insert(table, document.objects[table.name] ?? [], &writer) }
    for table in document.catalog.tables { try fill(table, document.objects[table.name] ?? [], writer) }
    _ = try write.commit(writer.record, .full)
  }

  /// Verifies the imported store: an export may contain links to missing objects, or unsorted sets.
  private static func check(_ target: any StorageEngine) throws(InspectionError) {
    let read: any ReadTransaction
    do throws(StorageError) { read = try target.beginRead() } catch { throw InspectionError(error) }
    defer { read.end() }
    let faults = try StoreVerifier.verify(target, read).faults
    guard let first = faults.first else { return }
    throw InspectionError(
      .usage, DisplayText.escaped("The export contradicts itself: \(first.place) \(first.message)."
        + (faults.count > 1 ? " There are \(faults.count - 1) more such faults." : "")))
  }

  private static func byKey(_ objects: [[String: JSONNode]]) throws(StorageError) -> [Int64: [String: JSONNode]] {
    var result: [Int64: [String: JSONNode]] = [:]
    for object in objects {
      guard case .int(let key)? = object[GraphText.id] ?? object[GraphText.firstId], key > 0 else {
        throw StorageError(.typeMismatch, .transaction, "An object of the export has no '\(GraphText.id)'.")
      }
      guard result.updateValue(object, forKey: key) == nil else {
        throw StorageError(.typeMismatch, .transaction, "Two objects of one type have the '\(GraphText.id)' \(key) in the export.")
      }
    }
    return result
  }

  private static func insert(
    _ table: TableEntry, _ objects: [[String: JSONNode]], _ writer: inout GraphWriter
  ) throws(StorageError) {
    let byKey = try byKey(objects)
    try writer.insert(table, byKey.keys.sorted()) { (column, key) throws(StorageError) in
      guard case .scalar(let type) = column.schema.kind, let node = byKey[key.rawValue]?[column.schema.name] else { return nil }
      return try value(node, type, column, table)
    }
  }

  private static func fill(
    _ table: TableEntry, _ objects: [[String: JSONNode]], _ writer: GraphWriter
  ) throws(StorageError) {
    let byKey = try byKey(objects)
    try writer.fill(table, byKey.keys.sorted()) { (column, key) throws(StorageError) in
      guard let node = byKey[key.rawValue]?[column.schema.name] else { return nil }
      switch (column.schema.kind, node) {
      case (.scalar(let type), _): return .scalar(try value(node, type, column, table))
      case (.list(let type), .array(let nodes)), (.set(let type), .array(let nodes)):
        var values: [Value] = []
        for node in nodes { values.append(try value(node, type, column, table)) }
        return .elements(values)
      case (.map(let type), .array(let nodes)):
        let entries = nodes.compactMap { GraphText.entry($0, as: type) }
        if entries.count == nodes.count { return .entries(entries) }
        throw wrong(column, table)
      default: throw wrong(column, table)
      }
    }
  }

  private static func value(
    _ node: JSONNode, _ type: ValueType, _ column: ColumnEntry, _ table: TableEntry
  ) throws(StorageError) -> Value {
    guard let value = GraphText.value(node, as: type), value.isNull || value.fits(type) else { throw wrong(column, table) }
    return value
  }

  private static func wrong(_ column: ColumnEntry, _ table: TableEntry) -> StorageError {
    StorageError(.typeMismatch, .transaction, "'\(table.name).\(column.schema.name)' has a value in the export that is no \(column.schema.kind.label).")
  }
}
