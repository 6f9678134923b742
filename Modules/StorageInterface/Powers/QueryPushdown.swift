import QueryModel
import StoreValues

/// A power of transactions that can answer part of a query themselves.
///
/// The answer must be *exactly* what the reference evaluator gives: null is two-valued, NaN never equals,
/// strings are UTF-8 bytes. A part that cannot be answered exactly is left in the residual.
public protocol QueryPushdown: StorageReading {
  /// What of `query` this transaction can do; nil when nothing, or nothing worth it.
  func pushdown(_ query: Query) throws(StorageError) -> PushedQuery?

  /// Keys of the objects that pass the pushed part, in the query's order when `ordersResult`, else ascending; limited
  /// when `appliesLimit`. `pushed` was made by `pushdown` of a transaction of the same engine.
  func keys(_ pushed: PushedQuery, _ body: (UnsafeBufferPointer<Int64>) -> Step) throws(StorageError)

  /// How many objects pass the pushed part (limited when `appliesLimit`).
  func count(_ pushed: PushedQuery) throws(StorageError) -> Int
}

/// A part of a query in an engine's own form.
public struct PushedQuery: Sendable {
  /// The engine's form, for example SQL with its arguments. Also what `explain` shows.
  public var statement: String
  /// What goes into the statement's places, first to last.
  public var arguments: [Value]
  /// What the caller still has to test for each object.
  public var residual: PredicateNode
  /// Whether keys come in the query's order, so that nobody has to sort.
  public var ordersResult: Bool
  /// Only ever true when the residual is `.constant(true)` and the order is pushed or the query has none.
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
