import QueryModel
import Values

/// A property in a `where` closure, or with `Root == Bool` a whole condition. Building one reads nothing.
@dynamicMemberLookup
public struct Field<Root>: Sendable {
  enum Body: Sendable {
    case path([String])
    case predicate(PredicateNode)
  }

  let body: Body

  init(path: [String]) { body = .path(path) }
  init(_ node: PredicateNode) where Root == Bool { body = .predicate(node) }

  func appending(_ name: String) -> [String] {
    guard case .path(let path) = body else { return [name] }
    return path + [name]
  }

  var expression: ExpressionNode {
    guard case .path(let path) = body else { return .constant(.null) }  // only a Bool is a predicate; see `node`
    return .path(PropertyPath(path))
  }
}

/// What a `where` closure gives.
public typealias Condition = Field<Bool>

extension Field where Root == Bool {
  /// A Bool property by itself is the condition that it is true.
  var node: PredicateNode {
    switch body {
    case .predicate(let node): node
    case .path: .comparison(Comparison(expression, .equal, .constant(.bool(true))))
    }
  }

  public static func && (a: Self, b: Self) -> Self { Self(.both(a.node, b.node)) }
  public static func || (a: Self, b: Self) -> Self { Self(.or([a.node, b.node])) }
  public static prefix func ! (a: Self) -> Self { Self(.not(a.node)) }
}

extension Field where Root: Model {
  /// A property. A path that is none (computed, `@Transient`) makes the query fail with its text in `error`.
  public subscript<V>(dynamicMember path: KeyPath<Root, V>) -> Field<V> {
    Field<V>(path: appending(Root.propertyName(of: path) ?? "\(path)"))
  }
}

extension Field {
  /// Through a to-one link: `$0.best.name`. nil where the link is.
  public subscript<Target: Model, V>(dynamicMember path: KeyPath<Target, V>) -> Field<V?> where Root == Target? {
    Field<V?>(path: appending(Target.propertyName(of: path) ?? "\(path)"))
  }

  public subscript<Target: Model, V>(dynamicMember path: KeyPath<Target, V?>) -> Field<V?> where Root == Target? {
    Field<V?>(path: appending(Target.propertyName(of: path) ?? "\(path)"))
  }
}

extension Field {
  func compare(_ comparator: ComparisonOperator, _ value: Value) -> Condition {
    if case .predicate(let node) = body { return Field<Bool>.compare(node, comparator, value) }
    return Condition(.comparison(Comparison(expression, comparator, .constant(value))))
  }

  func compare(_ comparator: ComparisonOperator, _ other: ExpressionNode) -> Condition {
    Condition(.comparison(Comparison(expression, comparator, other)))
  }
}

extension Field where Root == Bool {
  /// `(a && b) == true` and the like: a condition compared with a constant.
  fileprivate static func compare(_ node: PredicateNode, _ comparator: ComparisonOperator, _ value: Value) -> Self {
    let wanted = value == .bool(true)
    return Self((comparator == .equal) == wanted ? node : .not(node))
  }
}
