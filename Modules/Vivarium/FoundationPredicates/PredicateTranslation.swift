import Foundation
import QueryEngine
import QueryModel
import StoreValues

/// The translation of a part of a `#Predicate`.
enum TranslatedPredicate {
  case condition(PredicateNode)
  /// A condition on the end of an optional chain, and whether the chain ends at nil.
  case chained(PredicateNode, isAbsent: PredicateNode)
  case operand(ExpressionNode)
  /// `a ?? b`: operands of which exactly one applies to each object.
  case choice([GuardedOperand])
  /// `a...b` or `a..<b`; `isClosed` includes b.
  case range(ExpressionNode, ExpressionNode, isClosed: Bool)
}

/// An operand, and the condition under which it applies.
struct GuardedOperand {
  let isMeant: PredicateNode
  let operand: ExpressionNode

  /// Applies to all objects by default.
  init(_ operand: ExpressionNode, when isMeant: PredicateNode = .constant(true)) { (self.operand, self.isMeant) = (operand, isMeant) }
}

/// The paths that the variables of a `#Predicate` and of its closures have in a condition.
struct PredicateScope {
  /// The path prefix of a variable: empty for the object itself, `$e1` for an element.
  private var prefixes: [PredicateExpressions.VariableID: [String]] = [:]
  private var elements = 0

  init(root: PredicateExpressions.VariableID) { prefixes[root] = [] }

  var isInElement: Bool { elements > 0 }

  func prefix(_ variable: PredicateExpressions.VariableID) -> [String]? { prefixes[variable] }

  /// The scope with a variable bound to the end of a path.
  func binding(_ variable: PredicateExpressions.VariableID, to path: [String]) -> PredicateScope {
    var scope = self
    scope.prefixes[variable] = path
    return scope
  }

  /// The scope with a variable for each element of a collection, and its name.
  func bindingElement(_ variable: PredicateExpressions.VariableID) -> (scope: PredicateScope, name: String) {
    var scope = self
    // Within an element's condition, paths of the object itself begin with SELF.
    scope.prefixes = prefixes.mapValues { $0.first?.hasPrefix("$") == true || $0.first == "SELF" ? $0 : ["SELF"] + $0 }
    scope.elements += 1
    let name = "$e\(scope.elements)"
    scope.prefixes[variable] = [name]
    return (scope, name)
  }
}

/// A node of Foundation's predicates that can be translated to a condition.
protocol TranslatableExpression {
  func translated(_ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate
}

/// Translates the parts of a `#Predicate`, whatever their types.
enum PredicateTranslation {
  static func translate(_ expression: Any, _ scope: PredicateScope) throws(QueryError) -> TranslatedPredicate {
    guard let expression = expression as? any TranslatableExpression else { throw unsupported(expression) }
    return try expression.translated(scope)
  }

  static func condition(_ expression: Any, _ scope: PredicateScope) throws(QueryError) -> PredicateNode {
    switch try translate(expression, scope) {
    case .condition(let node), .chained(let node, _): return node
    // A Bool by itself means that it is true.
    case .operand(let operand): return .comparison(Comparison(operand, .equal, .constant(.bool(true))))
    case .choice(let choices): return comparison(choices, .equal, [GuardedOperand(.constant(.bool(true)))])
    case .range: throw unsupported(expression)
    }
  }

  static func operand(_ expression: Any, _ scope: PredicateScope) throws(QueryError) -> ExpressionNode {
    guard case .operand(let operand) = try translate(expression, scope) else { throw unsupported(expression) }
    return operand
  }

  /// The operands of an expression: one, or several for `??`.
  static func choices(_ expression: Any, _ scope: PredicateScope) throws(QueryError) -> [GuardedOperand] {
    switch try translate(expression, scope) {
    case .operand(let operand): return [GuardedOperand(operand)]
    case .choice(let choices): return choices
    default: throw unsupported(expression)
    }
  }

  /// A comparison of the operands that apply on each side.
  static func comparison(_ left: [GuardedOperand], _ comparator: ComparisonOperator, _ right: [GuardedOperand]) -> PredicateNode {
    let cases = left.flatMap { a in
      right.map { b in
        PredicateNode.both(.both(a.isMeant, b.isMeant), .comparison(Comparison(a.operand, comparator, b.operand)))
      }
    }
    return cases.count == 1 ? cases[0] : .or(cases)
  }

  /// `a + b` of the operands that apply on each side.
  static func arithmetic(
    _ left: Any, _ sign: ArithmeticOperator, _ right: Any, _ scope: PredicateScope
  ) throws(QueryError) -> TranslatedPredicate {
    let (left, right) = (try choices(left, scope), try choices(right, scope))
    let results = left.flatMap { a in
      right.map { b in GuardedOperand(.arithmetic(sign, a.operand, b.operand), when: .both(a.isMeant, b.isMeant)) }
    }
    return results.count == 1 ? .operand(results[0].operand) : .choice(results)
  }

  static func path(_ expression: Any, _ scope: PredicateScope) throws(QueryError) -> [String] {
    guard case .path(let path) = try operand(expression, scope) else { throw unsupported(expression) }
    return path.components
  }

  /// The error for an untranslatable node; names it without its generic arguments.
  static func unsupported(_ expression: Any) -> QueryError {
    let name = "\(type(of: expression))".prefix { $0 != "<" }
    return QueryError(
      .notSupported, "'\(name)' in a #Predicate has no form as a condition on stored objects.",
      remedy: "Use a text, `where { }`, or filter the objects in memory.", path: String(name))
  }
}

extension PredicateNode {
  /// Translates a `#Predicate`. Throws `.notSupported`, with the node's name, if the store's language cannot express it, and
  /// `.unknownProperty` for a key path that is not a persisted property.
  public init<T: Model>(_ predicate: Foundation.Predicate<T>) throws(QueryError) {
    let variable: PredicateExpressions.Variable<T> = predicate.variable
    self = try PredicateTranslation.condition(predicate.expression, PredicateScope(root: variable.key))
  }
}

extension Results {
  /// The objects that also pass a `#Predicate`. Reads nothing.
  ///
  /// ```swift
  /// let adults = people.filter(#Predicate { $0.age >= 18 && $0.name.contains("an") })
  /// ```
  ///
  /// If the store's language cannot express the predicate, the result is empty and has an `error`.
  public func filter(_ predicate: Foundation.Predicate<Element>, fileID: StaticString = #fileID, line: UInt = #line) -> Results {
    let place = SourcePlace(fileID: fileID, line: line)
    do throws(QueryError) {
      let condition = try PredicateNode(predicate)
      return Results(state.refined(at: place) { $0.condition = .both($0.condition, condition) })
    } catch {
      return Results(state.failing(StoreError(error), at: place))
    }
  }
}
