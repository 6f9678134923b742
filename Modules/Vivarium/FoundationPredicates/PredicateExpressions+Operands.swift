import Foundation
import QueryEngine
import QueryModel
import StoreValues

extension PredicateExpressions.Variable: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    guard let prefix = scope.prefix(key) else { throw PredicateTranslation.unsupported(self) }
    return .operand(.path(PropertyPath(prefix.isEmpty ? ["SELF"] : prefix)))
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    var path = try PredicateTranslation.path(root, scope)
    // Of the object itself; inside a closure it has to be said.
    if path == ["SELF"], !scope.isInElement { path = [] }
    if let model = Root.Output.self as? any Model.Type, let name = model.propertyName(of: keyPath) {
      return .operand(.path(PropertyPath(path + [name])))
    }
    guard let collection = Root.Output.self as? any CountedCollection.Type else {
      throw QueryError(
        .unknownProperty, "'\(keyPath)' is no persisted property.", remedy: "Use a stored property that is not @Transient.",
        path: "\(keyPath)")
    }
    let count = ExpressionNode.path(PropertyPath(path + ["@count"]))
    if collection.isCount(keyPath) { return .operand(count) }
    if collection.isIsEmpty(keyPath) { return .condition(.comparison(Comparison(count, .equal, .constant(.int(0))))) }
    throw PredicateTranslation.unsupported(self)
  }
}

/// Collections whose number of elements a `#Predicate` may ask.
protocol CountedCollection {
  static func isCount(_ path: AnyKeyPath) -> Bool
  static func isIsEmpty(_ path: AnyKeyPath) -> Bool
}

extension LiveList: CountedCollection where Element: PersistableElement {
  static func isCount(_ path: AnyKeyPath) -> Bool { path == \Self.count }
  static func isIsEmpty(_ path: AnyKeyPath) -> Bool { path == \Self.isEmpty }
}
extension LinkingObjects: CountedCollection {
  static func isCount(_ path: AnyKeyPath) -> Bool { path == \Self.count }
  static func isIsEmpty(_ path: AnyKeyPath) -> Bool { path == \Self.isEmpty }
}
extension String: CountedCollection {
  /// Characters are not what is stored: `count` of a string has no form.
  static func isCount(_ path: AnyKeyPath) -> Bool { false }
  static func isIsEmpty(_ path: AnyKeyPath) -> Bool { path == \String.isEmpty }
}

extension PredicateExpressions.Value: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    if let model = value as? any Model { return .operand(.object(model.literal)) }
    if let range = value as? any RangeArgument { return range.translated }
    switch (value as? any PredicateArgument)?.queryArgument {
    case .value(let value): return .operand(.constant(value))
    case .values(let values): return .operand(.constants(values))
    case .list(let nodes): return .operand(.list(nodes))
    default: throw PredicateTranslation.unsupported(self)
    }
  }
}

/// A range that a `#Predicate` took in as a value.
private protocol RangeArgument {
  var translated: TranslatedPredicate { get }
}

extension ClosedRange: RangeArgument where Bound: PredicateArgument {
  fileprivate var translated: TranslatedPredicate {
    .range(lowerBound.queryArgument.node, upperBound.queryArgument.node, isClosed: true)
  }
}
extension Range: RangeArgument where Bound: PredicateArgument {
  fileprivate var translated: TranslatedPredicate {
    .range(lowerBound.queryArgument.node, upperBound.queryArgument.node, isClosed: false)
  }
}

extension QueryArgument {
  fileprivate var node: ExpressionNode { if case .value(let value) = self { .constant(value) } else { .constant(.null) } }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate { .operand(.constant(.null)) }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  /// Of nil nothing holds but what holds of null.
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.translate(inner, scope)
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    let path = try PredicateTranslation.path(wrapped, scope)
    return try PredicateTranslation.translate(transform, scope.binding(variable.key, to: path))
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  /// `condition ?? false`, as optional chaining ends: a null passes as nothing does. Other defaults have no form.
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    guard case .condition(let condition) = try PredicateTranslation.translate(lhs, scope),
      case .operand(.constant(.bool(false))) = try PredicateTranslation.translate(rhs, scope)
    else { throw PredicateTranslation.unsupported(self) }
    return .condition(condition)
  }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    let sign: ArithmeticOperator =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw PredicateTranslation.unsupported(self)
      }
    return .operand(.arithmetic(sign, try PredicateTranslation.operand(lhs, scope), try PredicateTranslation.operand(rhs, scope)))
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    .operand(.arithmetic(.divide, try PredicateTranslation.operand(lhs, scope), try PredicateTranslation.operand(rhs, scope)))
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    .operand(.arithmetic(.divide, try PredicateTranslation.operand(lhs, scope), try PredicateTranslation.operand(rhs, scope)))
  }
}
