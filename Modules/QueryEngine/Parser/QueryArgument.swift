import QueryModel
import StoreValues

/// An argument of a query's text, for `%@`, `%K`, `$0` or `$K0`.
public enum QueryArgument: Sendable, Hashable {
  case value(Value)
  /// For `IN` and `BETWEEN`.
  case values([Value])
  /// A property or path, for `%K`.
  case path(PropertyPath)
  /// An object.
  case object(ObjectLiteral)
  /// A mixed value that links to objects of a known store.
  case mixed(MixedLiteral)
  /// Values, objects and mixed values.
  case list([ExpressionNode])
}

extension Query {
  /// A query from text: a condition in the grammar of NSPredicate, optionally followed by `SORT(path ASC, …)`, `DISTINCT(path,
  /// …)`, `LIMIT(n)` and `OFFSET(n)`, which apply from left to right.
  ///
  /// Any text gives a query or a `QueryError` with the position of the error; no text stops the process. Linear in the length
  /// of the text. Names are not checked: binding does that.
  public init(type: String, parsing text: String, arguments: [QueryArgument] = []) throws(QueryError) {
    var parser = try Parser(text, arguments)
    let condition = try parser.wholePredicate()
    self.init(type: type, condition: condition, sort: [], limit: nil)
    try parser.clauses(into: &self)
  }
}

extension PredicateNode {
  /// A condition from text; see `Query.init(type:parsing:arguments:)`.
  public init(parsing text: String, arguments: [QueryArgument] = []) throws(QueryError) {
    var parser = try Parser(text, arguments)
    self = try parser.wholePredicate()
    try parser.expectEnd()
  }
}
