import Foundation
import QueryEngine
import QueryModel
import StoreValues

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    .condition(.both(try PredicateTranslation.condition(lhs, scope), try PredicateTranslation.condition(rhs, scope)))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    .condition(.either(try PredicateTranslation.condition(lhs, scope), try PredicateTranslation.condition(rhs, scope)))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    .condition(.not(try PredicateTranslation.condition(wrapped, scope)))
  }
}

extension PredicateTranslation {
  fileprivate static func comparison(
    _ left: Any, _ comparator: ComparisonOperator, _ right: Any, _ scope: PredicateScope
  ) throws(QueryError) -> TranslatedPredicate {
    .condition(comparison(try choices(left, scope), comparator, try choices(right, scope)))
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    // `condition == true`, which optional chaining needs.
    if case .operand(.constant(.bool(let wanted))) = try PredicateTranslation.translate(rhs, scope) {
      switch try PredicateTranslation.translate(lhs, scope) {
      case .condition(let condition): return .condition(wanted ? condition : .not(condition))
      // A chain that ends at nil is neither true nor false.
      case .chained(let condition, let isAbsent):
        return .condition(.both(.not(isAbsent), wanted ? condition : .not(condition)))
      default: break
      }
    }
    return try PredicateTranslation.comparison(lhs, .equal, rhs, scope)
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.comparison(lhs, .notEqual, rhs, scope)
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    let comparator: ComparisonOperator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw PredicateTranslation.unsupported(self)
      }
    return try PredicateTranslation.comparison(lhs, comparator, rhs, scope)
  }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.comparison(element, .in, sequence, scope)
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.comparison(base, .contains, other, scope)
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.comparison(base, .beginsWith, prefix, scope)
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    let path = try PredicateTranslation.path(sequence, scope)
    let (inner, name) = scope.bindingElement(variable.key)
    let subquery = Subquery(
      collection: PropertyPath(path), variable: name, condition: try PredicateTranslation.condition(test, inner))
    return .condition(.comparison(Comparison(.subquery(subquery), .greater, .constant(.int(0)))))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    let path = try PredicateTranslation.path(sequence, scope)
    let (inner, name) = scope.bindingElement(variable.key)
    let subquery = Subquery(
      collection: PropertyPath(path), variable: name, condition: .not(try PredicateTranslation.condition(test, inner)))
    return .condition(.comparison(Comparison(.subquery(subquery), .equal, .constant(.int(0)))))
  }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    .range(try PredicateTranslation.operand(lower, scope), try PredicateTranslation.operand(upper, scope), isClosed: true)
  }
}

extension PredicateExpressions.Range: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    .range(try PredicateTranslation.operand(lower, scope), try PredicateTranslation.operand(upper, scope), isClosed: false)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    guard case .range(let lower, let upper, let isClosed) = try PredicateTranslation.translate(range, scope) else {
      throw PredicateTranslation.unsupported(range)
    }
    let element = try PredicateTranslation.choices(element, scope)
    return .condition(
      .and([
        PredicateTranslation.comparison(element, .greaterOrEqual, [GuardedOperand(lower)]),
        PredicateTranslation.comparison(element, isClosed ? .lessOrEqual : .less, [GuardedOperand(upper)]),
      ]))
  }
}
