import QueryModel
import StoreValues

/// A power of transactions that answer part of a query themselves.
///
/// The result must be *exactly* that of the reference evaluator: null is two-valued, NaN never equals, strings are UTF-8 bytes.
/// A part that cannot be answered exactly stays in the residual.
public protocol QueryPushdown: StorageReading {
  /// The part of `query` that this transaction can answer; nil if there is none, or none worthwhile.
  func pushdown(_ query: Query) throws(StorageError) -> PushedQuery?

  /// The keys of the objects that pass the pushed part, in the query's order if `ordersResult`, else ascending; limited if
  /// `appliesLimit`. `pushed` comes from `pushdown` of a transaction of the same engine.
  func keys(_ pushed: PushedQuery, _ body: (UnsafeBufferPointer<Int64>) -> Step) throws(StorageError)

  /// How many objects pass the pushed part (limited if `appliesLimit`).
  func count(_ pushed: PushedQuery) throws(StorageError) -> Int
}

/// Part of a query in an engine's own form.
public struct PushedQuery: Sendable {
  /// The engine's form, for example SQL. Also shown by `explain`.
  public var statement: String
  /// The statement's arguments, in order.
  public var arguments: [Value]
  /// The condition that the caller must still test for each object.
  public var residual: PredicateNode
  /// Whether keys come in the query's order, so that nobody must sort.
  public var ordersResult: Bool
  /// Only true if the residual is `.constant(true)` and the order is pushed or the query has none.
  public var appliesLimit: Bool

  public init(
    statement: String, arguments: [Value], residual: PredicateNode, ordersResult: Bool, appliesLimit: Bool
  ) {
    self.statement = statement
    self.arguments = arguments
    self.residual = residual
    self.ordersResult = ordersResult
    self.appliesLimit = appliesLimit
  }
}
