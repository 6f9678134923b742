import StorageInterface
import StoreValues

extension Inspector {
  /// Prints the types with their properties and indexes.
  public func schema() throws(InspectionError) {
    let tables = try withSnapshot { read throws(InspectionError) in read.catalog.tables }
    switch format {
    case .table: try printTables(tables)
    case .json: try print(.array(tables.map(\.node)))
    case .ndjson: try printLines(tables.map(\.node))
    case .csv:
      try printCSV(
        ["type", "property", "kind", "optional", "target", "primaryKey", "indexed", "unique"],
        tables.flatMap { table in table.currentColumns.map { table.record(of: $0) } })
    }
  }

  private func printTables(_ tables: [TableEntry]) throws(InspectionError) {
    let buffer = OutputBuffer(output)
    for (position, entry) in tables.enumerated() {
      let kind = entry.isEmbedded ? " (embedded)" : ""
      try buffer.put("\(position > 0 ? "\n" : "")\(DisplayText.escaped(entry.name))\(kind)\n")
      let table = TextTable(["property", "type", ""], indent: "  ", buffer: buffer)
      for column in entry.currentColumns {
        try table.add([column.schema.name, column.schema.typeText, entry.marks(of: column).joined(separator: ", ")])
      }
      for index in entry.compoundIndexes {
        try table.add([entry.names(of: index).joined(separator: ", "), "", index.isUnique ? "unique index" : "index"])
      }
      try table.finish()
    }
    try buffer.flush()
  }
}

extension PropertySchema {
  /// The type for people: `string`, `Dog?`, `[Dog]`, `Set<int64>`, `[String: mixed?]`, `inverse of Person.dogs`.
  var typeText: String {
    let element = (valueType == .link ? target ?? "?" : valueType?.rawValue ?? "")
    switch kind {
    case .scalar: return element + (mayBeNull ? "?" : "")
    case .list: return "[\(element)\(isOptional && valueType != .link ? "?" : "")]"
    case .set: return "Set<\(element)\(isOptional ? "?" : "")>"
    case .map: return "[String: \(element)\(isOptional ? "?" : "")]"
    case .linkingObjects(let origin, let property): return "inverse of \(origin).\(property)"
    }
  }

  /// The kind for programs: a value type, `list`, `set` or `map` followed by one, or `inverse`.
  fileprivate var kindText: String {
    switch kind {
    case .scalar(let type): type.rawValue
    case .list(let type): "list of \(type.rawValue)"
    case .set(let type): "set of \(type.rawValue)"
    case .map(let type): "map of \(type.rawValue)"
    case .linkingObjects: "inverse"
    }
  }

  /// The attributes that only some properties have.
  fileprivate var rules: [(String, ReportNode)] {
    var members: [(String, ReportNode)] = []
    if isFullText { members.append(("fullText", .bool(true))) }
    if let deleteRule { members.append(("deleteRule", .text(deleteRule.rawValue))) }
    if let cases, let valueType {
      members.append(("cases", .array(cases.map { .field(.value($0.value(as: valueType))) })))
    }
    if let derivation {
      let parts: [(String, ReportNode)] = [
        ("function", .text(derivation.function.rawValue)), ("relationship", .text(derivation.relationship)),
        ("property", .text(derivation.property)),
      ]
      members.append(("derived", .object(parts)))
    }
    return members
  }

  /// The target of a relationship; for an inverse, the property that it is computed from.
  fileprivate var targetText: String? {
    if case .linkingObjects(let origin, let property) = kind { return "\(origin).\(property)" }
    return target
  }
}

extension Derivation {
  /// The derivation for people: `count of dogs`, `sum of items.price`.
  fileprivate var text: String { "\(function.rawValue) of \(relationship)\(property.map { "." + $0 } ?? "")" }
}

extension TableEntry {
  fileprivate func names(of index: IndexEntry) -> [String] { index.properties.map { self[$0]?.schema.name ?? "?" } }

  fileprivate var compoundIndexes: [IndexEntry] { indexes.filter { $0.properties.count > 1 } }

  /// The index over this column alone, as the file has it.
  private func index(of column: ColumnEntry) -> IndexEntry? { indexes.first { $0.properties == [column.id] } }

  fileprivate func marks(of column: ColumnEntry) -> [String] {
    if column.schema.isPrimaryKey { return ["primary key"] }
    var marks: [String] = []
    if let index = index(of: column) { marks.append(index.isUnique ? "unique" : "indexed") }
    if column.schema.isFullText { marks.append("full text") }
    if let rule = column.schema.deleteRule, rule != .nullify { marks.append("on delete \(rule.rawValue)") }
    if let derivation = column.schema.derivation { marks.append("derived: \(derivation.text)") }
    return marks
  }

  fileprivate func record(of column: ColumnEntry) -> [ShownField] {
    let (schema, index) = (column.schema, index(of: column))
    return [
      .text(name), .text(schema.name), .text(schema.kindText), .bool(schema.isOptional), .text(schema.targetText),
      .bool(schema.isPrimaryKey), .bool(index != nil), .bool(index?.isUnique ?? false),
    ]
  }

  fileprivate var node: ReportNode {
    .object([("type", .text(name))] + (isEmbedded ? [("embedded", .bool(true))] : []) + [
      (
        "properties",
        .array(
          currentColumns.map { column in
            let (schema, index) = (column.schema, index(of: column))
            let rules = schema.rules
            return .object([
              ("name", .text(schema.name)),
              ("kind", .text(schema.kindText)),
              ("optional", .bool(schema.isOptional)),
              ("target", .text(schema.targetText)),
              ("primaryKey", .bool(schema.isPrimaryKey)),
              ("indexed", .bool(index != nil)),
              ("unique", .bool(index?.isUnique ?? false)),
            ] + rules)
          })
      ),
      (
        "indexes",
        .array(
          compoundIndexes.map { index in
            .object([
              ("properties", .array(names(of: index).map { ReportNode.text($0) })), ("unique", .bool(index.isUnique)),
            ])
          })
      ),
    ])
  }
}
