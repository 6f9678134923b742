import QueryModel
import StorageInterface
import StoreValues

/// A query bound to a catalog: checked, typed, and planned as far as possible without data. Bind once, use as often as needed,
/// on any version whose catalog has the same types.
///
/// A value, `Sendable`, cheap to copy. Binding takes microseconds. The methods read through the transaction they are given and
/// keep no reference to it.
public struct BoundQuery: Sendable {
  /// The query as it was given.
  public let query: Query
  let plan: Plan
  /// The query that `plan` answers: the condition and, if scans support them, the order and the limit.
  let stage: Query
  /// The clauses applied to its result.
  let clauses: [BoundClause]
  /// The order of `stage`, for sorting objects that are already in memory.
  private let stageSort: BoundClause?

  /// Throws for any error in the query: unknown names, types that cannot be compared, operators that do not exist for a type.
  public init(_ query: Query, in catalog: Catalog) throws(QueryError) {
    self.query = query
    var binder = try Binder(query.type, in: catalog)
    var stage = query
    stage.condition = try binder.adapted(query.condition)
    stage.clauses = []
    var later = query.clauses
    if !query.sort.allSatisfy({ $0.folding == nil && binder.isSimple(.path($0.path)) }) {
      later = [.sort(query.sort)] + (query.limit.map { [.limit($0)] } ?? []) + later
      (stage.sort, stage.limit) = ([], nil)
    }
    let condition = try binder.bind(stage.condition).simplified()
    var order: [SortField] = []
    for key in stage.sort {
      let path = try binder.placing(key.path) { binder throws(QueryError) in try binder.bind(key.path) }
      guard path.type != .link else {
        throw QueryError(
          .typeMismatch, "Objects cannot be ordered by '\(key.path)', which is a link.",
          remedy: "Order by a property of the linked object.", path: key.path.description, position: key.path.place.byte)
      }
      if !order.contains(where: { $0.path.end == path.end && $0.path.links == path.links }) {
        order.append(SortField(path: path, isAscending: key.ascending))
      }
    }
    if let limit = query.limit, limit < 0 {
      throw QueryError(.badArgument, "The limit is \(limit).", remedy: "Give 0 or more, or none.")
    }
    var clauses: [BoundClause] = []
    for clause in later { clauses.append(try binder.bind(clause)) }
    self.stage = stage
    self.clauses = clauses
    stageSort = stage.sort.isEmpty ? nil : try binder.bind(.sort(stage.sort))
    plan = Plan(condition, order: order, limit: stage.limit, binder: binder, hasClauses: !clauses.isEmpty)
  }

  /// The value of the condition if it is the same for every object; otherwise nil.
  package var constantCondition: Bool? { if case .constant(let value) = plan.condition { value } else { nil } }

  /// Whether the query was bound to this very catalog. O(1). False for an equal catalog that was read again.
  package func isBound(to catalog: Catalog) -> Bool { plan.catalog.isIdentical(to: catalog) }

  /// The table that is queried.
  public var table: TableID { plan.table.id }

  /// Every column that the condition and the order read, including links on the way. For an object that stays in the table,
  /// changes of other columns do not change the result.
  public var readProperties: Set<ColumnID> { plan.reads }

  /// Whether the query reads through a link, so that a change in another table can change the result.
  public var followsLinks: Bool { plan.reads.contains { $0.table != table } || plan.hasLinks }
}

extension BoundQuery {
  /// The keys of the objects that pass, in the query's order, limited.
  public func keys(in storage: any StorageReading) throws(StorageError) -> [Int64] {
    var statistics = QueryStatistics()
    return try keys(in: storage, statistics: &statistics)
  }

  /// The same; adds the cost to `statistics`.
  public func keys(
    in storage: any StorageReading, statistics: inout QueryStatistics
  ) throws(StorageError) -> [Int64] {
    var run = Run(plan, storage, stage)
    defer { statistics.add(run.statistics) }
    var limit = plan.limit
    if case .limit(let first)? = clauses.first { limit = Swift.min(limit ?? .max, first) }
    let keys = try run.keys(limit: limit)
    return try BoundClause.apply(clauses, to: keys, Evaluator(storage: storage), &run.statistics)
  }

  /// Those of the given objects that pass, in the query's order and limited. Without an order they keep the given one, which
  /// also breaks ties. Deleted objects are left out, repeated ones stay repeated. Reads each object.
  public func keys(among given: [Int64], in storage: any StorageReading) throws(StorageError) -> [Int64] {
    var statistics = QueryStatistics()
    var keys: [Int64] = []
    for key in given where try matches(ObjectKey(key), in: storage) { keys.append(key) }
    let limit = plan.limit.map { [BoundClause.limit($0)] } ?? []
    return try BoundClause.apply(
      (stageSort.map { [$0] } ?? []) + limit + clauses, to: keys, Evaluator(storage: storage), &statistics)
  }

  /// The number of objects that pass, at most the limit. Reads no row if an index or the engine has the count.
  public func count(in storage: any StorageReading) throws(StorageError) -> Int {
    var statistics = QueryStatistics()
    return try count(in: storage, statistics: &statistics)
  }

  /// The same; adds the cost to `statistics`.
  public func count(
    in storage: any StorageReading, statistics: inout QueryStatistics
  ) throws(StorageError) -> Int {
    if clauses.contains(where: \.dropsByValue) { return try keys(in: storage, statistics: &statistics).count }
    var run = Run(plan, storage, stage)
    defer { statistics.add(run.statistics) }
    var count = try run.count()
    if let limit = plan.limit { count = Swift.min(limit, count) }
    for clause in clauses { count = clause.count(count) }
    return count
  }

  /// The first object in the query's order; nil if none passes.
  public func first(in storage: any StorageReading) throws(StorageError) -> ObjectKey? {
    if !clauses.isEmpty { return try keys(in: storage).first.map { ObjectKey($0) } }
    var run = Run(plan, storage, stage)
    return try run.keys(limit: Swift.min(1, plan.limit ?? 1)).first.map { ObjectKey($0) }
  }

  /// Whether the object exists and passes the condition. Ignores limits and other clauses. O(1) in the number of objects.
  public func matches(_ key: ObjectKey, in storage: any StorageReading) throws(StorageError) -> Bool {
    guard try storage.contains(plan.table.id, key) else { return false }
    return try Evaluator(storage: storage).matches(plan.condition, key)
  }

  /// A byte string that sorts objects as the query does, ties broken by key. For orders that scans cannot produce: by
  /// aggregates of collections, or over inverses; nil for other queries. Reads the object and what its order refers to.
  package func orderKey(of key: ObjectKey, in storage: any StorageReading) throws(StorageError) -> [UInt8]? {
    guard case .sort(let fields)? = clauses.first else { return nil }
    let evaluator = Evaluator(storage: storage)
    var bytes: [UInt8] = []
    for field in fields { try evaluator.append(field, key, to: &bytes) }
    return bytes
  }

  /// How the query would be executed. Counts the entries of index runs; reads no row.
  public func explain(in storage: any StorageReading) throws(StorageError) -> QueryExplanation {
    var run = Run(plan, storage, stage)
    var result = try run.explain()
    if clauses.contains(where: \.sorts) { result.sorts = true }
    return result
  }
}

extension QueryStatistics {
  mutating func add(_ other: QueryStatistics) {
    batches += other.batches
    rowsScanned += other.rowsScanned
    entriesRead += other.entriesRead
    runsCounted += other.runsCounted
    rowsRead += other.rowsRead
    rowsHeld = Swift.max(rowsHeld, other.rowsHeld)
  }
}
