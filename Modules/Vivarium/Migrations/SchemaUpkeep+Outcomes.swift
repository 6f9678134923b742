import StorageInterface
import StoreValues

extension SchemaUpkeep {
  /// What the objects of a version gain and lose by schema changes, computed before they are made. Omits types without objects.
  /// `plan`: the migration's, if there is one.
  func outcomes(
    _ steps: [CatalogStep], _ plan: CatalogMigration?, _ new: Catalog, _ reading: any StorageReading
  ) throws(StoreError) -> [PropertyOutcome] {
    let old = reading.catalog
    var result: [PropertyOutcome] = []
    for step in steps {
      guard let (type, property) = step.place, let table = new[type], old[table.id] != nil else { continue }
      let count = try storing { () throws(StorageError) in try reading.count(table.id) }
      if count == 0 { continue }
      let move = plan?.moves.first { $0.type == type && $0.property == property }
      switch step {
      case .addedProperty where move == nil:
        guard let column = table[property] else { continue }
        let change = try addition(of: column, table, new, count, in: old)
        result.append(PropertyOutcome(type: type, property: property, objects: count, change: change))
      case .renamedProperty(_, let from, _):
        result.append(PropertyOutcome(type: type, property: property, objects: count, change: .renamed(from: from)))
      case .retiredProperty:
        if let outcome = try retirement(of: property, type, table, move, new, reading) { result.append(outcome) }
      default: continue
      }
    }
    return result
  }

  /// What each of `count` objects gets in a new property. A default that is the same twice may still be another one for the next.
  private func addition(
    of column: ColumnEntry, _ table: TableEntry, _ new: Catalog, _ count: Int, in old: Catalog
  ) throws(StoreError) -> PropertyOutcome.Change {
    let absent: Value = column.schema.isScalar ? column.absentValue : .list([])
    guard column.schema.derivation == nil, let defaults = configuration.defaults(of: table.name, in: new) else { return .added(absent) }
    let name = column.schema.name
    _ = try defaults.row()
    if defaults.required.contains(name) { return .addedWithoutValue }
    if try defaults.evaluated(of: [name]).isEmpty { return .added(absent) }
    guard let first = try value(of: name, defaults, in: old) else { return .addedWithoutValue }
    for _ in 1..<max(count, 2) {
      _ = try defaults.row()
      guard let next = try value(of: name, defaults, in: old) else { return .addedWithoutValue }
      if next != first { return .addedForEach(first: first) }
      try checkWanted()
    }
    return .added(first)
  }

  /// The default of a property in the last row; nil if existing objects do not get it.
  private func value(of name: String, _ defaults: DeclaredDefaults, in old: Catalog) throws(StoreError) -> Value? {
    guard let made = try defaults.values([name]).first, withheld(made.value, defaults.entry.name, in: old) == nil else { return nil }
    switch made.value {
    case nil: return nil
    case .scalar(let scalar): return scalar
    case .list(let elements): return Value.list(elements)
    case .map(let map): return Value.map(map)
    }
  }

  private func retirement(
    of property: String, _ type: String, _ table: TableEntry, _ move: CatalogMigration.Move?, _ new: Catalog, _ reading: any StorageReading
  ) throws(StoreError) -> PropertyOutcome? {
    let old = reading.catalog
    let names = [property] + (configuration.schema[type]?.renames ?? []).filter { $0.to == property }.map(\.from)
    guard let column = names.lazy.compactMap({ old[table.id]?[$0] }).first, column.schema.isStored else { return nil }
    let place = table.column(column.id)
    let holders = try storing { () throws(StorageError) in try reading.holders(of: place) }
    guard let move, let target = new[move.to]?.schema else {
      return holders == 0 ? nil : PropertyOutcome(type: type, property: property, objects: holders, change: .removed)
    }
    var failures: Set<ObjectKey> = []
    let targets = LinkTargets(column.schema, target, old, new)
    var last: ObjectKey?
    try storing { () throws(StorageError) in
      try reading.visitValues(of: place) { key, value in
        if value.isNull, !target.mayBeNull { return }
        // Of several elements a scalar would keep one.
        if !target.takes(value, targets) || target.isScalar && last == key { failures.insert(key) }
        last = key
      }
    }
    return PropertyOutcome(
      type: type, property: property, objects: holders, change: .converted(from: column.schema.kind, failures: failures.count))
  }
}

extension PropertySchema {
  /// Whether a value of another property can be converted to this one's type; null always can.
  fileprivate func takes(_ value: Value, _ targets: LinkTargets) -> Bool {
    if value.isNull { return true }
    if case .link(let key) = value { return targets.link(key, in: valueType) != nil }
    guard let valueType, !isRelationship else { return false }
    return value.migrated(to: valueType) != nil
  }
}

extension CatalogStep {
  /// The property that the step changes.
  fileprivate var place: (type: String, property: String)? {
    switch self {
    case .addedProperty(let type, let property), .retiredProperty(let type, let property): (type, property)
    case .renamedProperty(let type, _, let to): (type, to)
    default: nil
    }
  }
}
