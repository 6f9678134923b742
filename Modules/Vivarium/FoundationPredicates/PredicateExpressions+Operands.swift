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
    // A path of the object itself; inside a closure it keeps SELF.
    if path == ["SELF"], !scope.isInElement { path = [] }
    if let model = Root.Output.self as? any Model.Type, let name = model.propertyName(of: keyPath) {
      return .operand(.path(PropertyPath(path + [name])))
    }
    guard let collection = Root.Output.self as? any CountedCollection.Type else {
      throw .notPersisted("\(keyPath)", remedy: "Use a stored property that is not @Transient.")
    }
    let count = ExpressionNode.path(PropertyPath(path + ["@count"]))
    if collection.isCount(keyPath) { return .operand(count) }
    if collection.isIsEmpty(keyPath) { return .condition(.comparison(Comparison(count, .equal, .constant(.int(0))))) }
    throw PredicateTranslation.unsupported(self)
  }
}

/// Collections whose `count` and `isEmpty` a `#Predicate` may use.
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
  /// Characters are not stored: `count` of a string cannot be translated.
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
    case .mixed(let mixed): return .operand(.mixed(mixed))
    case .list(let nodes): return .operand(.list(nodes))
    default: throw PredicateTranslation.unsupported(self)
    }
  }
}

/// A range that a `#Predicate` captured as a value.
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
  /// For nil, only conditions that hold for null hold.
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.translate(inner, scope)
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    let path = try PredicateTranslation.path(wrapped, scope)
    let isAbsent = ExpressionNode.path(PropertyPath(path)).isNull
    switch try PredicateTranslation.translate(transform, scope.binding(variable.key, to: path)) {
    case .condition(let condition): return .chained(condition, isAbsent: isAbsent)
    case .chained(let condition, let further): return .chained(condition, isAbsent: .or([isAbsent, further]))
    case .operand(let operand): return .operand(operand)
    case .choice, .range: throw PredicateTranslation.unsupported(self)
    }
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  /// `$0.nick ?? $0.name`, `$0.boss?.age ?? 0`, and the `?? false` at the end of optional chaining.
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    switch try PredicateTranslation.translate(lhs, scope) {
    case .condition(let condition): return .condition(condition)
    case .chained(let condition, let isAbsent):
      let other = try PredicateTranslation.condition(rhs, scope)
      guard case .operand(.constant(.bool(false))) = try PredicateTranslation.translate(rhs, scope) else {
        return .condition(.or([.both(.not(isAbsent), condition), .both(isAbsent, other)]))
      }
      return .condition(condition.failsForNull ? condition : .both(.not(isAbsent), condition))
    case .operand(let operand): return try coalesced([GuardedOperand(operand)], scope)
    case .choice(let choices): return try coalesced(choices, scope)
    case .range: throw PredicateTranslation.unsupported(self)
    }
  }

  private func coalesced(_ choices: [GuardedOperand], _ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    let others = try PredicateTranslation.choices(rhs, scope)
    return .choice(
      choices.flatMap { first in
        let isNull = first.operand.isNull
        return [GuardedOperand(first.operand, when: .both(first.isMeant, .not(isNull)))]
          + others.map { GuardedOperand($0.operand, when: .both(.both(first.isMeant, isNull), $0.isMeant)) }
      })
  }
}

extension ExpressionNode {
  fileprivate var isNull: PredicateNode { .comparison(Comparison(self, .equal, .constant(.null))) }
}

extension PredicateNode {
  /// Whether it is one comparison that is false for null: then it needs no separate test for null.
  fileprivate var failsForNull: Bool {
    guard case .comparison(let comparison) = self, case .constant(let value) = comparison.right, !value.isNull else { return false }
    return [.equal, .greater, .contains, .beginsWith, .endsWith].contains(comparison.comparator)
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
    return try PredicateTranslation.arithmetic(lhs, sign, rhs, scope)
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.arithmetic(lhs, .divide, rhs, scope)
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    try PredicateTranslation.arithmetic(lhs, .divide, rhs, scope)
  }
}
