import QueryModel
import Synchronization

extension FieldBody {
  private static let variables = Atomic<UInt64>(0)

  /// The first path component of an element while its closure runs; `counting` renames it by its depth.
  @usableFromInline static func newVariable() -> String {
    "$element\(variables.wrappingAdd(1, ordering: .relaxed).newValue)"
  }

  /// How many elements of the collection pass the condition.
  @usableFromInline func counting(_ variable: String, _ condition: FieldBody) -> FieldBody {
    guard let collection = expression?.unquantified else { return self }
    let inner = condition.node
    // Named by the depth of the condition: equal conditions are equal values whenever they are made, and no variable shadows
    // another.
    let name = "$e\(inner.depthOfSubqueries + 1)"
    return .operand(
      .subquery(
        Subquery(collection: collection, variable: name, condition: inner.mappingPaths { $0.seenFromElement(variable, called: name) })))
  }
}

extension ExpressionNode {
  /// The expression as a path, without its quantifier.
  fileprivate var unquantified: PropertyPath? {
    switch self {
    case .path(let path): path
    case .quantified(_, let inner): inner.unquantified
    default: nil
    }
  }
}

extension PropertyPath {
  /// The path within a condition about an element: a path from the query's own object must begin with SELF.
  fileprivate func seenFromElement(_ variable: String, called name: String) -> PropertyPath {
    guard let first = components.first else { return self }
    if first == variable { return PropertyPath([name] + components.dropFirst()) }
    return first.hasPrefix("$") || first == "SELF" ? self : PropertyPath(["SELF"] + components)
  }
}

extension PredicateNode {
  /// The greatest nesting depth of SUBQUERYs.
  fileprivate var depthOfSubqueries: Int {
    switch self {
    case .constant: 0
    case .comparison(let comparison): max(comparison.left.depthOfSubqueries, comparison.right.depthOfSubqueries)
    case .and(let parts), .or(let parts): parts.map(\.depthOfSubqueries).max() ?? 0
    case .not(let inner): inner.depthOfSubqueries
    }
  }

  fileprivate func mappingPaths(_ change: @escaping (PropertyPath) -> PropertyPath) -> PredicateNode {
    mappingExpressions { expression in
      switch expression {
      case .path(let path): return .path(change(path))
      case .subquery(var subquery):
        subquery.collection = change(subquery.collection)
        return .subquery(subquery)
      default: return expression
      }
    }
  }
}

extension ExpressionNode {
  fileprivate var depthOfSubqueries: Int {
    switch self {
    case .constant, .constants, .object, .mixed, .variable, .path: 0
    case .list(let elements): elements.map(\.depthOfSubqueries).max() ?? 0
    case .folded(let inner, _), .quantified(_, let inner): inner.depthOfSubqueries
    case .arithmetic(_, let a, let b): max(a.depthOfSubqueries, b.depthOfSubqueries)
    case .subquery(let subquery): subquery.condition.depthOfSubqueries + 1
    }
  }
}
