import StoreValues

extension PredicateNode {
  /// The condition with `$name` replaced by the value for `name`. Variables without a value stay; a variable defined by an
  /// enclosing SUBQUERY belongs to that SUBQUERY.
  public func substituting(_ values: [String: Value]) -> PredicateNode {
    mappingExpressions { expression in
      if case .variable(let name) = expression, let value = values[name] { .constant(value) } else { expression }
    }
  }

  /// The condition with each operand replaced, nested operands first.
  package func mappingExpressions(_ change: (ExpressionNode) -> ExpressionNode) -> PredicateNode {
    switch self {
    case .constant: self
    case .comparison(var comparison):
      {
        comparison.left = comparison.left.mapped(change)
        comparison.right = comparison.right.mapped(change)
        return .comparison(comparison)
      }()
    case .and(let parts): .and(parts.map { $0.mappingExpressions(change) })
    case .or(let parts): .or(parts.map { $0.mappingExpressions(change) })
    case .not(let inner): .not(inner.mappingExpressions(change))
    }
  }
}

extension ExpressionNode {
  fileprivate func mapped(_ change: (ExpressionNode) -> ExpressionNode) -> ExpressionNode {
    switch self {
    case .constant, .constants, .object, .mixed, .variable, .path: change(self)
    case .list(let elements): change(.list(elements.map { $0.mapped(change) }))
    case .folded(let inner, let folding): change(.folded(inner.mapped(change), folding))
    case .quantified(let quantifier, let inner): change(.quantified(quantifier, inner.mapped(change)))
    case .arithmetic(let sign, let a, let b): change(.arithmetic(sign, a.mapped(change), b.mapped(change)))
    case .subquery(var subquery):
      {
        subquery.condition = subquery.condition.mappingExpressions(change)
        return change(.subquery(subquery))
      }()
    }
  }
}
