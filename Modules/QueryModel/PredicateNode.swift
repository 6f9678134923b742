/// A condition on an object, as a plain value: what every front door of the query language makes, and all
/// that the engine reads.
public enum PredicateNode: Sendable, Hashable, Codable {
  /// Matches every object, or none.
  case constant(Bool)
  /// In a box of its own: conditions are passed on and kept more often than they are looked into.
  indirect case comparison(Comparison)
  /// All of them; an empty list matches every object.
  case and([PredicateNode])
  /// At least one of them; an empty list matches none.
  case or([PredicateNode])
  indirect case not(PredicateNode)
}

extension PredicateNode {
  /// Both conditions, without nesting `and` in `and`.
  public static func both(_ a: PredicateNode, _ b: PredicateNode) -> PredicateNode {
    switch (a, b) {
    case (.constant(true), let other), (let other, .constant(true)): other
    case (.and(let x), .and(let y)): .and(x + y)
    case (.and(let x), let other): .and(x + [other])
    case (let other, .and(let y)): .and([other] + y)
    default: .and([a, b])
    }
  }
}
