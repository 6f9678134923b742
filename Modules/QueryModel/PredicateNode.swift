/// A condition on an object, as a plain value: every front end of the query language creates it, and the engine reads nothing
/// else.
public enum PredicateNode: Sendable, Hashable, Codable {
  /// Matches every object, or none.
  case constant(Bool)
  /// Boxed separately, because conditions are passed on and stored more often than they are inspected.
  indirect case comparison(Comparison)
  /// All of them; an empty list matches every object.
  case and([PredicateNode])
  /// At least one of them; an empty list matches none.
  case or([PredicateNode])
  indirect case not(PredicateNode)
}

extension PredicateNode {
  /// The conjunction of both, without nesting `and` in `and`.
  public static func both(_ a: PredicateNode, _ b: PredicateNode) -> PredicateNode {
    switch (a, b) {
    case (.constant(true), let other), (let other, .constant(true)): other
    case (.and(let x), .and(let y)): .and(x + y)
    case (.and(let x), let other): .and(x + [other])
    case (let other, .and(let y)): .and([other] + y)
    default: .and([a, b])
    }
  }

  /// The disjunction of both, without nesting `or` in `or`: many alternatives that a loop joins are as flat as in a text.
  public static func either(_ a: PredicateNode, _ b: PredicateNode) -> PredicateNode {
    switch (a, b) {
    case (.constant(false), let other), (let other, .constant(false)): other
    case (.or(let x), .or(let y)): .or(x + y)
    case (.or(let x), let other): .or(x + [other])
    case (let other, .or(let y)): .or([other] + y)
    default: .or([a, b])
    }
  }
}
