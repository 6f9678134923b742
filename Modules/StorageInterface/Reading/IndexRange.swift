import StoreValues

/// A run of an index's entries: the first columns equal to given values, then the next column within bounds.
///
/// Values compare by `Value.order(to:)` (null first, then NaN, −0.0 as 0.0). Over a compound index (a, b, c),
/// `equal: [1]` with `lower`/`upper` on b selects a = 1 and b within the bounds, any c.
public struct IndexRange: Sendable, Hashable {
  /// An end of a run.
  public enum Bound: Sendable, Hashable {
    case unbounded
    case including(Value)
    case excluding(Value)
  }

  /// The values of the first columns.
  public var equal: [Value]
  /// The lower bound of the next column.
  public var lower: Bound
  /// The upper bound of the next column.
  public var upper: Bound

  public init(equal: [Value] = [], lower: Bound = .unbounded, upper: Bound = .unbounded) {
    self.equal = equal
    self.lower = lower
    self.upper = upper
  }

  /// Every entry.
  public static let all = IndexRange()
}
