import StorageInterface
import StoreValues

extension ForecastReader {
  /// Values of enums that are no case after the change, a line for each value. Opening refuses them; a migration may set others.
  /// Reads a column only if it may have some, as opening does.
  func strays(after plan: CatalogMigration?) throws(StorageError) -> [MigrationForecast.Line] {
    var lines: [MigrationForecast.Line] = []
    for table in finished.tables where read.catalog[table.id] != nil {
      for column in table.currentColumns where column.schema.isStored {
        guard let cases = column.schema.cases else { continue }
        let place = table.column(column.id)
        let source = plan?.moves.first { $0.to == place }?.from ?? place
        // Of another type, the line about the conversion covers the values; a new property has none.
        guard let before = read.catalog[source]?.schema, before.valueType == column.schema.valueType else { continue }
        if let known = before.cases, known.allSatisfy({ cases.contains($0) }) { continue }
        for (value, objects) in try read.strays(in: source, cases: cases) {
          let name = column.schema.name
          if plan == nil {
            let note = "'\(value)' is no case any more: keep it, or set others in a migration"
            lines.append(.fault(table.name, name, note, objects: objects))
          } else {
            let note = "'\(value)': refused unless the migration sets them"
            lines.append(MigrationForecast.Line("removed case", table.name, name, objects: objects, note: note))
          }
        }
      }
    }
    return lines
  }
}
