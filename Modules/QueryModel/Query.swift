/// A question about the objects of one type, as a plain value: it can be sent, compared, kept and asked of
/// any store.
///
/// The clauses apply in the order condition, sort, limit. Without sort keys the order is the objects' own:
/// ascending object key, which is the order of insertion.
public struct Query: Sendable, Hashable {
  /// The name of the type.
  public var type: String
  public var condition: PredicateNode
  public var sort: [SortKey]
  /// At most so many objects, the first in order; nil: all.
  public var limit: Int?

  public init(type: String, condition: PredicateNode = .constant(true), sort: [SortKey] = [], limit: Int? = nil) {
    self.type = type
    self.condition = condition
    self.sort = sort
    self.limit = limit
  }
}
