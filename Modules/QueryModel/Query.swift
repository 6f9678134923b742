/// A question about the objects of one type, as a plain value: it can be sent, compared, stored and run on any store.
///
/// The condition applies first, then the sort, then the limit, then the further clauses from first to last. Without sort keys,
/// objects are in ascending key order, which is the order of insertion.
///
/// ```swift
/// var query = Query(type: "Person", condition: adults, sort: [SortKey("age")], limit: 10)
/// query.clauses = [.distinct([PropertyPath("name")])]  // of those ten
/// let sent = try JSONEncoder().encode(query)
/// ```
public struct Query: Sendable, Hashable, Codable {
  /// The name of the type.
  public var type: String
  /// The condition for objects; `.constant(true)` by default.
  public var condition: PredicateNode
  /// The order, first key first; ties, and objects without sort keys, by object key.
  public var sort: [SortKey]
  /// The most objects, the first in order; nil: all.
  public var limit: Int?
  /// Further steps on those objects, from first to last.
  public var clauses: [QueryClause]

  public init(
    type: String, condition: PredicateNode = .constant(true), sort: [SortKey] = [], limit: Int? = nil,
    clauses: [QueryClause] = []
  ) {
    self.type = type
    self.condition = condition
    self.sort = sort
    self.limit = limit
    self.clauses = clauses
  }
}

/// A step that transforms a sequence of objects.
public enum QueryClause: Sendable, Hashable, Codable {
  /// Stable: ties keep their order.
  case sort([SortKey])
  /// Keeps the first of the objects that agree in all of these paths. Drops objects whose path leads over a null link.
  case distinct([PropertyPath])
  /// Keeps the first `n` objects; 0 or more.
  case limit(Int)
  /// Drops the first `n` objects; 0 or more.
  case offset(Int)
}

extension Query {
  /// Appends a clause, merging it into the parts that are evaluated fastest if possible: a sort or a limit with no clause
  /// before it. `SORT(a) SORT(b)` sorts by b and then a, because sorting is stable.
  public mutating func append(_ clause: QueryClause) {
    switch (clause, clauses.last) {
    case (.sort(let keys), nil) where limit == nil: sort = keys + sort
    case (.sort(let keys), .sort(let before)?): clauses[clauses.count - 1] = .sort(keys + before)
    case (.limit(let count), nil): limit = min(limit ?? .max, count)
    case (.limit(let count), .limit(let before)?): clauses[clauses.count - 1] = .limit(min(count, before))
    default: clauses.append(clause)
    }
  }
}
