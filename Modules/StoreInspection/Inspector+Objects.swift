import StorageInterface
import StoreValues

extension Inspector {
  /// Prints the objects of the given types in key order, or of every type if none is given; at most `limit` of each.
  ///
  /// Streams: memory does not grow with the number of objects. CSV takes one type at a time, since a file has one header.
  public func dump(_ types: [String] = [], limit: Int? = nil) throws(InspectionError) {
    if let limit, limit < 0 { throw InspectionError(.usage, "The limit is a number from 0, not \(limit).") }
    try withSnapshot { read throws(InspectionError) in
      let tables = try tables(types, in: read.catalog)
      if format == .csv, tables.count != 1 {
        throw InspectionError(
          .usage,
          "CSV holds one type at a time: name one of \(tables.map(\.name).joined(separator: ", ")), or use ndjson.")
      }
      var writer = recordWriter()
      for table in tables {
        let reader = ObjectReader(read, table, withInverses: false, elementLimit: elementLimit)
        try writer.begin(table.name, reader.columns, count: try count(table, read))
        try reader.forEach(limit: limit) { key, fields throws(InspectionError) in try writer.object(key, fields) }
        try writer.endType()
      }
      try writer.end()
    }
  }

  /// Prints one object, with its inverses. `name` is its primary key, or `#` and its object key.
  public func get(_ type: String, _ name: String) throws(InspectionError) {
    try withSnapshot { read throws(InspectionError) in
      let table = try table(type, in: read.catalog)
      let reader = ObjectReader(read, table, withInverses: true, elementLimit: elementLimit)
      guard let key = try key(of: ObjectName(name, in: table), in: table, read), let fields = try reader.fields(of: key)
      else {
        throw InspectionError(
          .notFound, "There is no \(type) '\(DisplayText.escaped(name))' in \(DisplayText.escaped(location)).")
      }
      switch format {
      case .table: try printVertically(key, reader.columns, fields)
      case .json, .ndjson:
        // Both formats print one object on one line, with its type.
        var writer = LineRecordWriter(OutputBuffer(output))
        try writer.begin(table.name, reader.columns, count: 1)
        try writer.object(key, fields)
        try writer.end()
      case .csv:
        try printCSV([keyTitle] + reader.columns.map(\.schema.name), [[.value(.int(key.rawValue))] + fields])
      }
    }
  }

  /// Prints the number of objects of one type, or of each type.
  public func count(_ type: String? = nil) throws(InspectionError) {
    try withSnapshot { read throws(InspectionError) in
      var counts: [(String, Int)] = []
      for table in try tables(type.map { [$0] } ?? [], in: read.catalog) {
        counts.append((table.name, try count(table, read)))
      }
      try printCounts(counts, isOne: type != nil)
    }
  }

  /// Prints counts by type. For a single requested type, a table is the number alone.
  func printCounts(_ counts: [(String, Int)], isOne: Bool) throws(InspectionError) {
    switch format {
    case .table where isOne: try print(counts.flatMap { Array("\($0.1)\n".utf8) })
    case .table:
      let table = TextTable(["type", "objects"], [.leading, .trailing], output: output)
      for (name, count) in counts { try table.add([name, String(count)]) }
      try table.finish()
    case .json: try print(.object(counts.map { ($0.0, .number($0.1)) }))
    case .ndjson: try printLines(counts.map { .object([("type", .text($0.0)), ("count", .number($0.1))]) })
    case .csv: try printCSV(["type", "count"], counts.map { [.text($0.0), .number($0.1)] })
    }
  }

  func count(_ table: TableEntry, _ read: any ReadTransaction) throws(InspectionError) -> Int {
    do throws(StorageError) { return try read.count(table.id) } catch { throw InspectionError(error) }
  }

  /// Tables show the beginning of a list; the other formats print all of it.
  var elementLimit: Int? { format == .table ? ShownField.displayedElementCount : nil }

  private func tables(_ types: [String], in catalog: Catalog) throws(InspectionError) -> [TableEntry] {
    if types.isEmpty { return catalog.tables }
    var tables: [TableEntry] = []
    for type in types where !tables.contains(where: { $0.name == type }) {
      tables.append(try table(type, in: catalog))
    }
    return tables
  }

  private func key(
    of name: ObjectName, in table: TableEntry, _ read: any ReadTransaction
  ) throws(InspectionError) -> ObjectKey? {
    switch name {
    case .key(let key): return key
    case .primaryKey(let value):
      guard let index = table.primaryIndex else { return nil }
      do throws(StorageError) { return try read.key(in: index.id, equal: [value]) } catch { throw InspectionError(error) }
    }
  }

  private func printVertically(
    _ key: ObjectKey, _ columns: [ColumnEntry], _ fields: [ShownField]
  ) throws(InspectionError) {
    let table = TextTable(["property", "value"], widthMax: 400, output: output)
    try table.add([keyTitle, String(key.rawValue)])
    for (column, field) in zip(columns, fields) { try table.add([column.schema.name, field.displayText]) }
    try table.finish()
  }
}
