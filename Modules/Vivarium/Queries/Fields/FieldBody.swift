import QueryModel
import StoreValues

/// The untyped content of a `Field`: conditions are built without the metadata of their types.
@usableFromInline enum FieldBody: Sendable {
  case path([String])
  /// The most common condition, without a box: many are inspected once and discarded.
  case comparison([String], ComparisonOperator, Value)
  case predicate(PredicateNode)
  /// An expression other than a property: a quantifier, a sum, a folded string, a number of elements.
  case operand(ExpressionNode)
}

extension FieldBody {
  /// Appends a property or an operator to the path.
  @usableFromInline func appending(_ path: [String]) -> FieldBody {
    switch self {
    case .path(let before): .path(before.isEmpty ? path : before + path)
    case .operand(let node): .operand(node.appending(path))
    case .comparison, .predicate: .path(path)
    }
  }

  /// Nil for a compound condition: no property has its value.
  var expression: ExpressionNode? {
    switch self {
    case .path(let path): .path(PropertyPath(path.isEmpty ? ["SELF"] : path))
    case .operand(let node): node
    case .comparison, .predicate: nil
    }
  }

  /// A Bool property by itself means that it is true.
  var node: PredicateNode {
    switch self {
    case .predicate(let node): node
    case .comparison(let path, let comparator, let value):
      .comparison(Comparison(.path(PropertyPath(path)), comparator, .constant(value)))
    case .path(let path): .comparison(Comparison(.path(PropertyPath(path)), .equal, .constant(.bool(true))))
    case .operand(let node): .comparison(Comparison(node, .equal, .constant(.bool(true))))
    }
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ value: Value) -> FieldBody {
    switch self {
    case .path(let path) where !path.isEmpty: return .comparison(path, comparator, value)
    case .path, .operand: return compared(comparator, with: .constant(value))
    case .comparison, .predicate:
      // `(a && b) == true` and the like: a condition compared with a constant.
      return .predicate((comparator == .equal) == (value == .bool(true)) ? node : .not(node))
    }
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ object: ObjectLiteral) -> FieldBody {
    compared(comparator, with: .object(object))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ values: [Value]) -> FieldBody {
    if expression != nil { return compared(comparator, with: .constants(values)) }
    // A condition compared with a list of Bools: whether it equals one of them.
    return .predicate(.or(values.map { compared(.equal, $0).node }))
  }

  /// `store`: that of the objects which the value links to, if it links to any.
  @usableFromInline func compared(_ comparator: ComparisonOperator, _ value: Value, of store: StoreIdentity?) -> FieldBody {
    guard let store else { return compared(comparator, value) }
    return compared(comparator, with: .mixed(MixedLiteral(value, of: store)))
  }

  /// Values, and the stores of the objects that they link to.
  @usableFromInline func compared(_ comparator: ComparisonOperator, linking values: [(Value, StoreIdentity?)]) -> FieldBody {
    let nodes = values.map { value, store in store.map { ExpressionNode.mixed(MixedLiteral(value, of: $0)) } ?? .constant(value) }
    return compared(comparator, with: .list(nodes))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, oneOf objects: [ObjectLiteral]) -> FieldBody {
    compared(comparator, with: .list(objects.map { .object($0) }))
  }

  @usableFromInline func compared(_ comparator: ComparisonOperator, _ other: FieldBody) -> FieldBody {
    if let right = other.expression, expression != nil { return compared(comparator, with: right) }
    // Conditions can only be equal or unequal: equal if both hold, or neither does.
    let (a, b) = (node, other.node)
    let isSame = PredicateNode.or([.both(a, b), .both(.not(a), .not(b))])
    return .predicate(comparator == .equal ? isSame : .not(isSame))
  }

  private func compared(_ comparator: ComparisonOperator, with right: ExpressionNode) -> FieldBody {
    guard let expression else { return .predicate(.constant(false)) }
    return .predicate(.comparison(Comparison(expression, comparator, right).foldingBothSides))
  }

  @usableFromInline func and(_ other: FieldBody) -> FieldBody { .predicate(.both(node, other.node)) }
  @usableFromInline func or(_ other: FieldBody) -> FieldBody { .predicate(.either(node, other.node)) }
  @usableFromInline var negated: FieldBody { .predicate(.not(node)) }
}

extension FieldBody {
  /// A string without the differences that the folding ignores.
  @usableFromInline func folded(_ folding: Folding) -> FieldBody {
    guard let expression else { return self }
    if case .folded(let inner, let before) = expression { return .operand(.folded(inner, before.union(folding))) }
    return .operand(.folded(expression, folding))
  }

  /// Sets how many elements of the collection must satisfy the comparison.
  @usableFromInline func quantified(_ quantifier: Quantifier) -> FieldBody {
    guard let expression else { return self }
    return .operand(.quantified(quantifier, expression))
  }

  /// An arithmetic expression of two operands. A quantifier of an operand becomes that of the whole.
  @usableFromInline func computed(_ sign: ArithmeticOperator, _ other: FieldBody) -> FieldBody {
    guard let left = expression, let right = other.expression else { return self }
    switch (left, right) {
    case (.quantified(let quantifier, let a), .quantified(let other, let b)):
      // Binding rejects two different quantifiers.
      return .operand(.quantified(quantifier, .arithmetic(sign, a, quantifier == other ? b : right)))
    case (.quantified(let quantifier, let a), let b): return .operand(.quantified(quantifier, .arithmetic(sign, a, b)))
    case (let a, .quantified(let quantifier, let b)): return .operand(.quantified(quantifier, .arithmetic(sign, a, b)))
    default: break
    }
    return .operand(.arithmetic(sign, left, right))
  }

  @inlinable static func constant(_ value: Value) -> FieldBody { .operand(.constant(value)) }
}

extension ExpressionNode {
  fileprivate func appending(_ path: [String]) -> ExpressionNode {
    switch self {
    case .path(let before): .path(PropertyPath(before.components + path))
    case .quantified(let quantifier, let inner): .quantified(quantifier, inner.appending(path))
    case .folded(let inner, let folding): .folded(inner.appending(path), folding)
    default: self
    }
  }
}

extension Comparison {
  /// As in the grammar: a folding of one side applies to both.
  fileprivate var foldingBothSides: Comparison {
    switch (left, right) {
    case (.folded, .folded): self
    case (.folded(_, let folding), let right): Comparison(left, comparator, .folded(right, folding))
    case (let left, .folded(_, let folding)): Comparison(.folded(left, folding), comparator, right)
    default: self
    }
  }
}
