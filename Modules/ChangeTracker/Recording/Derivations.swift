import StorageInterface
import StoreValues

/// A property derived from the objects at the other end of a relationship.
struct DerivedColumn {
  let column: ColumnID
  let schema: PropertySchema
  let derivation: Derivation
  /// The collection of the same type; or, for an inverse, the relationship of another type that points here.
  let relationship: ColumnID
  let isInverse: Bool
  /// The aggregated number of the related objects.
  let source: ColumnID?
}

/// The derived properties of a catalog, by their dependencies. Made once per catalog; empty for most.
final class Derivations: Sendable {
  let all: [DerivedColumn]
  let byColumn: [ColumnID: DerivedColumn]
  let byRelationship: [ColumnID: [DerivedColumn]]
  let bySource: [ColumnID: [DerivedColumn]]
  let byTable: [TableID: [DerivedColumn]]
  /// Inverses, by the type whose relationship points here.
  let byOrigin: [TableID: [DerivedColumn]]
  let isEmpty: Bool

  init(_ catalog: Catalog) {
    let found = catalog.tables.flatMap { table in table.columns.compactMap { DerivedColumn($0, table, catalog) } }
    all = found
    byColumn = Dictionary(found.map { ($0.column, $0) }) { $1 }
    byRelationship = Dictionary(grouping: found) { $0.relationship }
    bySource = Dictionary(grouping: found.filter { $0.source != nil }) { $0.source ?? $0.relationship }
    byTable = Dictionary(grouping: found) { $0.column.table }
    byOrigin = Dictionary(grouping: found.filter(\.isInverse)) { $0.relationship.table }
    isEmpty = found.isEmpty
  }
}

extension DerivedColumn {
  /// Whether the new value can be computed from the old one and the gained and lost objects, see `DerivedDelta`. The count of a
  /// collection needs no computation at all.
  var takesDeltas: Bool {
    switch derivation.function {
    case .count: isInverse
    case .sum: schema.valueType?.integerRange != nil
    case .min, .max: true
    case .average: false
    }
  }

  /// Whether an edit of the collection must be processed object by object.
  var needsElements: Bool { isInverse || takesDeltas }

  fileprivate init?(_ column: ColumnEntry, _ table: TableEntry, _ catalog: Catalog) {
    guard let derivation = column.schema.derivation, let path = table[derivation.relationship] else { return nil }
    let other: TableEntry?
    if case .linkingObjects(let type, let property) = path.schema.kind {
      guard let origin = catalog[type], let forward = origin[property] else { return nil }
      relationship = origin.column(forward.id)
      isInverse = true
      other = origin
    } else {
      relationship = table.column(path.id)
      isInverse = false
      other = path.schema.target.flatMap { catalog[$0] }
    }
    self.column = table.column(column.id)
    schema = column.schema
    self.derivation = derivation
    if let name = derivation.property {
      guard let other, let entry = other[name] else { return nil }
      source = other.column(entry.id)
    } else {
      source = nil
    }
  }
}
