import QueryModel
import Storage
import Values

/// A query bound to a catalog: checked, typed and planned as far as that can be done without data. Bind once, ask
/// as often as needed, of any version whose catalog has the same types.
///
/// A value, `Sendable`, cheap to copy. Binding costs microseconds. The methods read through the transaction they
/// are given and keep nothing of it.
public struct BoundQuery: Sendable {
  /// The query as it was asked.
  public let query: Query
  let plan: Plan

  /// Throws for whatever is wrong with the query: unknown names, types that do not go together, operators that
  /// do not exist for a type.
  public init(_ query: Query, in catalog: Catalog) throws(QueryError) {
    self.query = query
    var binder = try Binder(query.type, in: catalog)
    let condition = try binder.bind(query.condition).simplified()
    var order: [SortField] = []
    for key in query.sort {
      let path = try binder.bind(key.path)
      guard path.type != .link else {
        throw QueryError(
          .typeMismatch, "Objects cannot be ordered by '\(key.path)', which is a link.",
          remedy: "Order by a property of the linked object.", path: key.path.description)
      }
      if !order.contains(where: { $0.path.end == path.end && $0.path.links == path.links }) {
        order.append(SortField(path: path, isAscending: key.ascending))
      }
    }
    if let limit = query.limit, limit < 0 {
      throw QueryError(.badArgument, "The limit is \(limit).", remedy: "Give 0 or more, or none.")
    }
    plan = Plan(condition, order: order, limit: query.limit, binder: binder)
  }

  /// The table that is queried.
  public var table: TableID { plan.table.id }

  /// Every column the condition and the order read, links on the way included: a change of others in an object
  /// that stays changes nothing in the result.
  public var readProperties: Set<ColumnID> { plan.reads }

  /// Whether anything is read through a link, so that a change in another table can change the result.
  public var followsLinks: Bool { plan.reads.contains { $0.table != table } || plan.hasLinks }
}

extension BoundQuery {
  /// The keys of the objects that pass, in the query's order, limited.
  public func keys(in storage: any StorageReading) throws(StorageError) -> [Int64] {
    var statistics = QueryStatistics()
    return try keys(in: storage, statistics: &statistics)
  }

  /// The same, and adds to `statistics` what it cost.
  public func keys(
    in storage: any StorageReading, statistics: inout QueryStatistics
  ) throws(StorageError) -> [Int64] {
    var run = Run(plan, storage, query)
    defer { statistics.add(run.statistics) }
    return try run.keys(limit: plan.limit)
  }

  /// How many objects pass, at most the limit. Reads no row where an index or the engine knows.
  public func count(in storage: any StorageReading) throws(StorageError) -> Int {
    var statistics = QueryStatistics()
    return try count(in: storage, statistics: &statistics)
  }

  /// The same, and adds to `statistics` what it cost.
  public func count(
    in storage: any StorageReading, statistics: inout QueryStatistics
  ) throws(StorageError) -> Int {
    var run = Run(plan, storage, query)
    defer { statistics.add(run.statistics) }
    let count = try run.count()
    return plan.limit.map { Swift.min($0, count) } ?? count
  }

  /// The first object in the query's order; nil when none passes.
  public func first(in storage: any StorageReading) throws(StorageError) -> ObjectKey? {
    var run = Run(plan, storage, query)
    return try run.keys(limit: Swift.min(1, plan.limit ?? 1)).first.map { ObjectKey($0) }
  }

  /// Whether the object lives and passes the condition. The limit does not matter. O(1) in the number of objects.
  public func matches(_ key: ObjectKey, in storage: any StorageReading) throws(StorageError) -> Bool {
    guard try storage.contains(plan.table.id, key) else { return false }
    return try Evaluator(storage: storage).matches(plan.condition, key)
  }

  /// How the query would be answered. Counts runs of indexes; reads no row.
  public func explain(in storage: any StorageReading) throws(StorageError) -> QueryExplanation {
    var run = Run(plan, storage, query)
    return try run.explain()
  }
}

extension QueryStatistics {
  mutating func add(_ other: QueryStatistics) {
    batches += other.batches
    rowsScanned += other.rowsScanned
    entriesRead += other.entriesRead
    runsCounted += other.runsCounted
    rowsRead += other.rowsRead
  }
}
