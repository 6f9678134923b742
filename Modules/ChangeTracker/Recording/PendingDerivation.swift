import StoreValues

/// A derived property of one object.
struct DerivedPlace: Hashable {
  let column: ColumnID
  let key: Int64
}

/// What is still to be computed of a derived property of one object.
enum PendingDerivation {
  /// From everything that it follows from.
  case anew
  /// From what it is, and what came and went since.
  case by(DerivedDelta)
}

/// What came to the objects that a derived property follows from, and what went: so that upkeep costs what an edit
/// touches, and not what a collection holds.
///
/// Only where the result is bit for bit that of computing anew: counts, sums of integers, and least and greatest values. A
/// sum of doubles depends on the order of its additions, which would make a value depend on the history of its object, and one of decimals
/// may have been rounded; these are computed anew, as an average is.
struct DerivedDelta {
  private var count = 0
  private var sum: Int128 = 0
  /// The furthest of the values that came, and of those that went.
  private var gained: Value?
  private var lost: Value?
}

extension DerivedDelta {
  /// One more, with this number; null where nothing is asked of it, or it has none. False when it can only be computed anew.
  mutating func gain(_ value: Value, _ function: Derivation.Function) -> Bool {
    count += 1
    if case .int(let number) = value { sum += Int128(number) }
    return DerivedDelta.extend(&gained, with: value, function)
  }

  /// One less.
  mutating func lose(_ value: Value, _ function: Derivation.Function) -> Bool {
    count -= 1
    if case .int(let number) = value { sum -= Int128(number) }
    return DerivedDelta.extend(&lost, with: value, function)
  }

  /// Of two that are the same and differ in their bits (0.0 and −0.0), the collection's order decides.
  private static func extend(_ furthest: inout Value?, with value: Value, _ function: Derivation.Function) -> Bool {
    guard let direction = function.direction, !value.isNull else { return true }
    guard let known = furthest else {
      furthest = value
      return true
    }
    let order = value.order(to: known)
    if order == direction { furthest = value }
    return order != .same || value == known
  }

  /// What follows from the stored value; nil when it can only be computed anew.
  func applied(to stored: Value, _ function: Derivation.Function) -> Value? {
    switch function {
    case .count:
      guard case .int(let number) = stored else { return nil }
      return .int(number &+ Int64(count))
    case .sum:
      // One that stands at a bound may be beyond it.
      guard case .int(let number) = stored, number != .max, number != .min else { return nil }
      return .int(Int64(clamping: Int128(number) + sum))
    case .min, .max: return furthest(from: stored, function)
    case .average: return nil
    }
  }

  private func furthest(from stored: Value, _ function: Derivation.Function) -> Value? {
    guard let direction = function.direction else { return nil }
    var best = stored
    if let gained {
      let order = stored.isNull ? direction : gained.order(to: stored)
      if order == direction { best = gained }
      if order == .same, gained != stored { return nil }
    }
    if let lost, best.isNull || lost.order(to: best) != direction.reversed { return nil }
    return best
  }
}

extension Derivation.Function {
  /// Which of two values `min` and `max` take: the one that stands so to the other.
  fileprivate var direction: Value.Order? {
    switch self {
    case .min: .before
    case .max: .after
    default: nil
    }
  }
}
