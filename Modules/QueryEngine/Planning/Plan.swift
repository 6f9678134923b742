import QueryModel
import StorageInterface
import StoreValues

/// One key of the order, resolved.
struct SortField: Sendable {
  let path: BoundPath
  let isAscending: Bool
  /// The position of an own property in the columns of a scan.
  var slot = 0
}

/// What can be decided about a query from the catalog alone. Immutable and shared by the copies of a bound query.
final class Plan: Sendable {
  let catalog: Catalog
  let table: TableEntry
  /// With slots for `columns`.
  let condition: Condition
  let order: [SortField]
  let limit: Int?
  let reads: Set<ColumnID>
  /// What a scan asks for: the own columns of the condition and of the order.
  let columns: [PropertyID]
  /// How many of `columns` the condition alone needs: they come first.
  let conditionColumns: Int
  let hints: [ZoneHint]
  /// The whole condition as bounds of columns; nil when it is more.
  let bounds: [BoundsTest]?
  let accesses: [IndexAccess]
  /// Ways over the words of texts.
  let texts: [TextAccess]
  /// Masks that evaluating a batch needs.
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
    // A few, and no set: the first one of a type of elements costs as much as opening a store.
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

  /// Bounds that every result has, for engines that skip runs of rows by them.
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
