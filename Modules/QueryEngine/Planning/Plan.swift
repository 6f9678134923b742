import QueryModel
import StorageInterface
import StoreValues

/// One resolved sort key.
struct SortField: Sendable {
  let path: BoundPath
  let isAscending: Bool
  /// The position of a property of the queried table in the columns of a scan.
  var slot = 0
}

/// Everything about a query that the catalog alone decides. Immutable, shared by the copies of a bound query.
final class Plan: Sendable {
  let catalog: Catalog
  let table: TableEntry
  /// Its slots refer to `columns`.
  let condition: Condition
  let order: [SortField]
  let limit: Int?
  let reads: Set<ColumnID>
  /// The columns a scan reads: the own columns of the condition and of the order.
  let columns: [PropertyID]
  /// How many of `columns` the condition needs; they come first.
  let conditionColumns: Int
  let hints: [ZoneHint]
  /// The whole condition as bounds of columns; nil if it has other tests.
  let bounds: [BoundsTest]?
  let accesses: [IndexAccess]
  /// The accesses by the words of texts.
  let texts: [TextAccess]
  /// The number of masks needed to evaluate a batch.
  let depth: Int
  let hasLinks: Bool

  init(_ condition: Condition, order: [SortField], limit: Int?, binder: Binder, hasClauses: Bool = false) {
    catalog = binder.catalog
    table = binder.table
    reads = binder.columns
    self.limit = limit
    var columns: [PropertyID] = []
    func need(_ property: PropertyID) { if !columns.contains(property) { columns.append(property) } }
    condition.forEachScanColumn(need)
    conditionColumns = columns.count
    for field in order where field.path.isOwn { need(field.path.end.property) }
    self.columns = columns
    self.condition = condition.withSlots(in: columns)
    self.order = order.map { field in
      var field = field
      if field.path.isOwn { field.slot = columns.firstIndex(of: field.path.end.property) ?? 0 }
      return field
    }
    // Not a set: there are only a few, and the first set of a new element type costs as much as opening a store.
    let ordered = order.filter(\.path.isOwn).map(\.path.end.property)
    hints = Plan.hints(self.condition)
      + columns.indices.filter { !ordered.contains(columns[$0]) && !condition.needsValues(of: columns[$0]) }
      .map { ZoneHint(presenceOf: $0) }
    bounds = BoundsTest.all(of: self.condition)
    accesses = IndexAccess.candidates(for: self.condition, in: binder.table)
    texts = TextAccess.candidates(for: self.condition, in: binder.table)
    depth = Evaluator.depth(of: self.condition) + 2
    hasLinks = hasClauses || order.contains { !$0.path.isOwn } || condition.followsLinks
  }

  /// Bounds that every passing row satisfies, for engines that skip runs of rows by them.
  private static func hints(_ condition: Condition) -> [ZoneHint] {
    condition.conjuncts.compactMap { part in
      guard case .own(let own) = part, !own.test.matchesNull else { return nil }
      switch own.test.kind {
      case .words(let low, let high): return ZoneHint(column: own.slot, min: low, max: high)
      case .wordSet(let set):
        return ZoneHint(column: own.slot, min: set.sorted[0], max: set.sorted[set.sorted.count - 1])  // never empty
      case .doubles(let low, let high):
        return ZoneHint(column: own.slot, min: ZoneHint.ordinal(of: low), max: ZoneHint.ordinal(of: high))
      case .floats(let low, let high):
        return ZoneHint(
          column: own.slot, min: ZoneHint.ordinal(of: Double(low)), max: ZoneHint.ordinal(of: Double(high)))
      default: return nil
      }
    }
  }
}
