/// A question about the objects of one type, as a plain value: it can be sent, compared, kept and asked of
/// any store.
///
/// The condition applies first, then the sort, then the limit, then the further clauses from first to last. Without
/// sort keys the order is the objects' own: ascending object key, which is the order of insertion.
///
/// ```swift
/// var query = Query(type: "Person", condition: adults, sort: [SortKey("age")], limit: 10)
/// query.clauses = [.distinct([PropertyPath("name")])]  // of those ten
/// let sent = try JSONEncoder().encode(query)
/// ```
public struct Query: Sendable, Hashable, Codable {
  /// The name of the type.
  public var type: String
  /// What an object has to fulfil; `.constant(true)` by default.
  public var condition: PredicateNode
  /// The order, first key first; ties, and everything without keys, by object key.
  public var sort: [SortKey]
  /// At most so many objects, the first in order; nil: all.
  public var limit: Int?
  /// What is done with those objects, from first to last.
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

/// A step that makes one sequence of objects of another.
public enum QueryClause: Sendable, Hashable, Codable {
  /// Stable: ties keep the order they had.
  case sort([SortKey])
  /// Of the objects that agree in all of these, the first in the order so far. An object whose path leads over a null
  /// link is dropped.
  case distinct([PropertyPath])
  /// The first so many; 0 or more.
  case limit(Int)
  /// All but the first so many; 0 or more.
  case offset(Int)
}

extension Query {
  /// Adds a clause at the end, where it can be into the parts that are evaluated fastest: a sort or a limit that
  /// nothing else comes before. `SORT(a) SORT(b)` sorts by b and then a, because sorting is stable.
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
