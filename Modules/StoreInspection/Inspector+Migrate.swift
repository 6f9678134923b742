import StorageInterface
import StoreValues

extension Inspector {
  /// Prints what opening the store with a schema would do, and writes nothing. If opening would fail, prints the reasons and throws
  /// status `.refused`.
  ///
  /// - Parameters:
  ///   - schema: The program's schema, see `SchemaText`.
  ///   - version: The program's schema version; nil: the file's.
  ///   - renamedTypes: New names by old ones.
  public func migrationDryRun(
    to schema: Schema, version: UInt64?, renamedTypes: [String: String] = [:]
  ) throws(InspectionError) {
    let forecast = try withSnapshot { read throws(InspectionError) in
      try MigrationForecast(
        read, to: schema, version: version ?? read.catalog.schemaVersion, renamedTypes: renamedTypes)
    }
    var failure: InspectionError?
    do throws(InspectionError) { try print(forecast) } catch { failure = error }
    try InspectionError.end(found: forecast.faults.isEmpty ? nil : InspectionError(.refused, ""), output: failure)
  }

  private func print(_ forecast: MigrationForecast) throws(InspectionError) {
    switch format {
    case .table: try printTable(forecast)
    case .json: try print(forecast.node)
    case .ndjson: try printLines(forecast.lines.map(\.node))
    case .csv:
      try printCSV(
        ["change", "type", "property", "objects", "note"],
        forecast.lines.map { line in
          [
            .text(line.change), .text(line.type), .text(line.property),
            line.objects.map { .number($0) } ?? .value(.null), .text(line.note),
          ]
        })
    }
  }

  private func printTable(_ forecast: MigrationForecast) throws(InspectionError) {
    let buffer = OutputBuffer(output)
    let (old, new) = forecast.versions
    try buffer.put("schema version \(old)\(old == new ? "" : " → \(new)")\n")
    if forecast.lines.isEmpty {
      try buffer.put("nothing would change\n")
      return try buffer.flush()
    }
    try buffer.put("\n")
    let table = TextTable(
      ["change", "type", "property", "objects", ""], [.leading, .leading, .leading, .trailing], widthMax: 80, buffer: buffer)
    for line in forecast.lines {
      try table.add([line.change, line.type, line.property ?? "", line.objects.map(String.init) ?? "", line.note ?? ""])
    }
    try table.finish()
    if !forecast.faults.isEmpty {
      try buffer.put("\nthe store would not open, and stay as it is\n")
    } else if forecast.needsMigration {
      try buffer.put("\nwhat the program's migration block does besides is not known here\n")
    } else {
      try buffer.put("\nno migration is needed\n")
    }
    try buffer.flush()
  }
}

extension MigrationForecast {
  fileprivate var node: ReportNode {
    .object([
      ("oldVersion", .number(Int(clamping: versions.old))), ("newVersion", .number(Int(clamping: versions.new))),
      ("needsMigration", .bool(needsMigration)), ("fails", .bool(!faults.isEmpty)), ("changes", .array(lines.map(\.node))),
    ])
  }
}

extension MigrationForecast.Line {
  fileprivate var node: ReportNode {
    .object([
      ("change", .text(change)), ("type", .text(type)), ("property", .text(property)),
      ("objects", objects.map { .number($0) } ?? .null), ("note", .text(note)),
    ])
  }
}
