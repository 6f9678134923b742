import QueryModel
import Values

/// What a `Field` is, whatever its type: conditions are put together without asking for the types of their parts.
@usableFromInline enum FieldBody: Sendable {
  case path([String])
  case predicate(PredicateNode)
}

extension FieldBody {
  /// A property of what this leads to.
  @usableFromInline func appending(_ path: [String]) -> FieldBody {
    guard case .path(let before) = self, !before.isEmpty else { return .path(path) }
    return .path(before + path)
  }

  var expression: ExpressionNode {
    guard case .path(let path) = self else { return .constant(.null) }  // only a Bool is a predicate; see `node`
    return .path(PropertyPath(path))
  }

  /// A Bool property by itself is the condition that it is true.
  var node: PredicateNode {
    switch self {
    case .predicate(let node): node
    case .path: .comparison(Comparison(expression, .equal, .constant(.bool(true))))
    }
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ value: Value) -> FieldBody {
    guard case .predicate(let node) = self else {
      return .predicate(.comparison(Comparison(expression, comparator, .constant(value))))
    }
    // `(a && b) == true` and the like: a condition compared with a constant.
    return .predicate((comparator == .equal) == (value == .bool(true)) ? node : .not(node))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ values: [Value]) -> FieldBody {
    .predicate(.comparison(Comparison(expression, comparator, .constants(values))))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ other: FieldBody) -> FieldBody {
    .predicate(.comparison(Comparison(expression, comparator, other.expression)))
  }

  @usableFromInline func and(_ other: FieldBody) -> FieldBody { .predicate(.both(node, other.node)) }
  @usableFromInline func or(_ other: FieldBody) -> FieldBody { .predicate(.or([node, other.node])) }
  @usableFromInline var negated: FieldBody { .predicate(.not(node)) }
}
