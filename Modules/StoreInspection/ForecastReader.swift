import StorageInterface
import StoreValues

/// Examines the objects of a version for the effects of a schema change.
struct ForecastReader {
  private typealias Line = MigrationForecast.Line
  let read: any ReadTransaction
  /// The catalog after the change.
  let finished: Catalog

  init(_ read: any ReadTransaction, _ finished: Catalog) {
    self.read = read
    self.finished = finished
  }

  func lines(of step: CatalogStep, after plan: CatalogMigration?) throws(StorageError) -> [MigrationForecast.Line] {
    switch step {
    case .createdTable(let type): return [Line("new type", type)]
    case .renamedProperty(let type, let old, let new):
      return [Line("renamed property", type, new, objects: try count(type, plan), note: "was '\(old)'")]
    case .renamedType(let old, let new): return [Line("renamed type", new, objects: try count(new, plan), note: "was '\(old)'")]
    case .updatedProperty(let type, let property): return [Line("changed rule", type, property)]
    case .changedEmbedding(let type, let isEmbedded):
      return [Line(isEmbedded ? "becomes embedded" : "becomes a type of its own", type, objects: try count(type, plan))]
    case .addedProperty(let type, let property):
      // If the property existed before, the line about its retirement covers the change.
      if plan?.moves.contains(where: { $0.type == type && $0.property == property }) == true { return [] }
      return [Line("new property", type, property, objects: try count(type, plan), note: gain(of: type, property))]
    case .retiredProperty(let type, let property): return try retirement(of: type, property, plan)
    case .removedIndex(let type, let properties, let isUnique):
      return [Line(isUnique ? "dropped unique index" : "dropped index", type, properties.joined(separator: ", "))]
    case .addedIndex(let type, let properties, let isUnique):
      let names = properties.joined(separator: ", ")
      if !isUnique { return [Line("new index", type, names, objects: try count(type, plan))] }
      return try uniqueIndex(type, properties, plan)
    }
  }

  /// The present table of a type of the finished catalog; nil for a new type.
  private func table(_ type: String) -> TableEntry? { finished[type].flatMap { read.catalog[$0.id] } }

  private func count(_ type: String, _ plan: CatalogMigration?) throws(StorageError) -> Int? {
    guard let table = table(type) ?? read.catalog[type] else { return nil }
    return try read.count(table.id)
  }

  /// The value that each object gets in a new property, as far as the schema determines it.
  private func gain(of type: String, _ property: String) -> String? {
    guard table(type) != nil, let column = finished[type]?[property] else { return nil }
    if column.schema.derivation != nil { return "each gets what it follows from" }
    if column.schema.isRelationship {
      return "each gets \(column.schema.isScalar ? "null" : "none"); refused if the default has objects"
    }
    if column.schema.isCollection { return "each gets none, or the declared default" }
    if column.schema.mayBeNull { return "each gets null, or the declared default" }
    if column.schema.isScalar, column.schema.defaultValue != nil { return "each gets \(column.absentValue)" }
    return column.schema.isScalar ? "each gets the declared default; refused where there is none" : nil
  }

  /// Properties that hold values, are missing from the schema, and belong to a type that gains other properties. Opening fails
  /// until the program says what becomes of them.
  func forgotten(_ steps: [CatalogStep], _ schema: Schema) throws(StorageError) -> [MigrationForecast.Line] {
    var lines: [MigrationForecast.Line] = []
    for object in schema.objects {
      let isGaining = steps.contains { if case .addedProperty(object.name, _) = $0 { true } else { false } }
      guard isGaining, let table = read.catalog[object.name] else { continue }
      for column in read.catalog.unlisted(in: object) {
        let count = try read.holders(of: table.column(column.id))
        let note = "not in the schema, which has new ones: '@Renamed(from:)' or 'unlistedProperties' says what it is"
        if count > 0 { lines.append(.fault(object.name, column.schema.name, note, objects: count)) }
      }
    }
    return lines
  }

  /// A property that is removed, or whose values move to another column.
  private func retirement(
    of type: String, _ property: String, _ plan: CatalogMigration?
  ) throws(StorageError) -> [MigrationForecast.Line] {
    guard let table = table(type), let column = table[property], column.schema.isStored else {
      return [Line("removed property", type, property)]
    }
    let target = plan?.moves.first { $0.type == type && $0.property == property }.flatMap { finished[$0.to]?.schema }
    var (held, lost) = (0, 0)
    for key in try keys(table.id) {
      let values = try values(of: column, table, key)
      if values.isEmpty { continue }
      held += 1
      if let target, !target.takes(values, from: column.schema) { lost += 1 }
    }
    if target == nil {
      let note = held > 0 ? "their values go: refused unless the program says so" : nil
      return [Line("removed property", type, property, objects: held, note: note)]
    }
    let note = "from \(column.schema.kind.label)"
      + (lost > 0 ? "; \(lost) cannot be converted: refused unless the migration sets them" : "")
    return [Line("converted property", type, property, objects: held, note: note)]
  }

  /// The values of a property, without nulls.
  private func values(of column: ColumnEntry, _ table: TableEntry, _ key: ObjectKey) throws(StorageError) -> [Value] {
    let place = table.column(column.id)
    switch column.schema.kind {
    case .scalar: return try [read.value(place, key)].filter { !$0.isNull }
    case .list, .set: return try read.values(place, key, 0..<Int.max).filter { !$0.isNull }
    case .map: return try read.entries(place, key, 0..<Int.max).map(\.value).filter { !$0.isNull }
    case .linkingObjects: return []
    }
  }

  private func uniqueIndex(
    _ type: String, _ properties: [String], _ plan: CatalogMigration?
  ) throws(StorageError) -> [MigrationForecast.Line] {
    let names = properties.joined(separator: ", ")
    let count = try count(type, plan)
    guard let table = table(type), let after = finished[type], (count ?? 0) > 1 else {
      return [Line("new unique index", type, names, objects: count)]
    }
    // Unchanged columns can be examined. The values that a migration will put into the others are unknown.
    let columns = properties.compactMap { after[$0]?.id }.compactMap { table[$0] }
    guard columns.count == properties.count else {
      let note = "holds if the migration gives every object another value"
      return [Line("new unique index", type, names, objects: count, note: note)]
    }
    var seen: Set<[[UInt8]]> = []
    var duplicates = 0
    for key in try keys(table.id) {
      var parts: [[UInt8]] = []
      for column in columns {
        let value = try read.value(table.column(column.id), key)
        if !value.isNull { parts.append(value.orderKey) }
      }
      // A null never violates uniqueness.
      if parts.count == columns.count, !seen.insert(parts).inserted { duplicates += 1 }
    }
    let line = Line("new unique index", type, names, objects: count)
    if duplicates == 0 { return [line] }
    let reason = "\(duplicates) \(duplicates == 1 ? "object has" : "objects have") the same value as another"
    // A migration may still resolve the duplicates.
    return plan == nil
      ? [line, .fault(type, names, reason, objects: duplicates)]
      : [line, .fault(type, names, "\(reason), unless the migration changes that", objects: duplicates)]
  }

  /// Objects of a type that becomes embedded: each needs one owner.
  func embedding(of type: String) throws(StorageError) -> [MigrationForecast.Line] {
    guard let table = table(type) else { return [] }
    let owners = read.catalog.tables.flatMap { source in
      source.currentColumns.filter { $0.schema.isRelationship && $0.schema.isStored && $0.schema.target == table.name }
        .map { source.column($0.id) }
    }
    var (alone, shared) = (0, 0)
    for key in try keys(table.id) {
      var count = 0
      for column in owners {
        try read.sources(of: key, through: column) { sources in
          count += sources.count
          return .proceed
        }
      }
      if count == 0 { alone += 1 }
      if count > 1 { shared += 1 }
    }
    var lines: [Line] = []
    if alone > 0 { lines.append(Line("deleted objects", type, objects: alone, note: "nobody owns them")) }
    if shared > 0 {
      lines.append(.fault(type, nil, "linked more than once, unless the migration gives each owner its own", objects: shared))
    }
    return lines
  }

  private func keys(_ table: TableID) throws(StorageError) -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try read.scan(table, [], from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row)) }
      return .proceed
    }
    return keys
  }
}

extension PropertySchema {
  /// Whether all these values of another property can become values of this one.
  fileprivate func takes(_ values: [Value], from other: PropertySchema) -> Bool {
    if isScalar, values.count > 1 { return false }
    if other.isRelationship { return target == other.target }
    guard let valueType, !isRelationship else { return false }
    return values.allSatisfy { $0.migrated(to: valueType) != nil }
  }
}
