import QueryModel
import StoreValues

/// What a `Field` is, whatever its type: conditions are put together without asking for the types of their parts.
@usableFromInline enum FieldBody: Sendable {
  case path([String])
  /// What most conditions are, in no box of its own: many are looked at once and thrown away.
  case comparison([String], ComparisonOperator, Value)
  case predicate(PredicateNode)
}

extension FieldBody {
  /// A property of what this leads to.
  @usableFromInline func appending(_ path: [String]) -> FieldBody {
    guard case .path(let before) = self, !before.isEmpty else { return .path(path) }
    return .path(before + path)
  }

  /// Nil for a condition that was put together: no property has its value.
  private var expression: ExpressionNode? {
    guard case .path(let path) = self else { return nil }
    return .path(PropertyPath(path))
  }

  /// A Bool property by itself is the condition that it is true.
  var node: PredicateNode {
    switch self {
    case .predicate(let node): node
    case .comparison(let path, let comparator, let value):
      .comparison(Comparison(.path(PropertyPath(path)), comparator, .constant(value)))
    case .path(let path): .comparison(Comparison(.path(PropertyPath(path)), .equal, .constant(.bool(true))))
    }
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ value: Value) -> FieldBody {
    if case .path(let path) = self { return .comparison(path, comparator, value) }
    // `(a && b) == true` and the like: a condition compared with a constant.
    return .predicate((comparator == .equal) == (value == .bool(true)) ? node : .not(node))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ object: ObjectLiteral) -> FieldBody {
    guard let expression else { return .predicate(.constant(false)) }
    return .predicate(.comparison(Comparison(expression, comparator, .object(object))))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ values: [Value]) -> FieldBody {
    if let expression { return .predicate(.comparison(Comparison(expression, comparator, .constants(values)))) }
    // Of a condition it is asked whether it is one of some Bools.
    return .predicate(.or(values.map { compared(.equal, $0).node }))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ other: FieldBody) -> FieldBody {
    if let a = expression, let b = other.expression { return .predicate(.comparison(Comparison(a, comparator, b))) }
    // Conditions, which can be equal or not: both hold, or neither does.
    let (a, b) = (node, other.node)
    let isSame = PredicateNode.or([.both(a, b), .both(.not(a), .not(b))])
    return .predicate(comparator == .equal ? isSame : .not(isSame))
  }

  @usableFromInline func and(_ other: FieldBody) -> FieldBody { .predicate(.both(node, other.node)) }
  @usableFromInline func or(_ other: FieldBody) -> FieldBody { .predicate(.or([node, other.node])) }
  @usableFromInline var negated: FieldBody { .predicate(.not(node)) }
}
