import StoreValues

/// A derived property of one object.
struct DerivedPlace: Hashable {
  let column: ColumnID
  let key: Int64
}

/// The pending computation of a derived property of one object.
enum PendingDerivation {
  /// Recompute it from everything it depends on.
  case anew
  /// Compute it from its value and the objects gained and lost since.
  case by(DerivedDelta)
}

/// The objects gained and lost by a derived property's dependencies, so that upkeep costs as much as an edit touches, not as
/// much as a collection holds.
///
/// Only for results that are bit-identical to recomputation: counts, sums of integers, least and greatest values. A sum of
/// doubles depends on the order of additions, so its value would depend on the object's history, and a sum of decimals may have
/// been rounded; these are recomputed, as averages are.
struct DerivedDelta {
  private var count = 0
  private var sum: Int128 = 0
  /// The extreme of the gained values, and of the lost ones.
  private var gained: Value?
  private var lost: Value?
}

extension DerivedDelta {
  /// Adds an object with this number; null if no number is needed or it has none. False if the property must be recomputed.
  mutating func gain(_ value: Value, _ function: Derivation.Function) -> Bool {
    count += 1
    if case .int(let number) = value { sum += Int128(number) }
    return DerivedDelta.extend(&gained, with: value, function)
  }

  /// Removes an object.
  mutating func lose(_ value: Value, _ function: Derivation.Function) -> Bool {
    count -= 1
    if case .int(let number) = value { sum -= Int128(number) }
    return DerivedDelta.extend(&lost, with: value, function)
  }

  /// Of two equal values with different bits (0.0 and −0.0), the collection's order decides.
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

  /// The new value from the stored one; nil if it must be recomputed.
  func applied(to stored: Value, _ function: Derivation.Function) -> Value? {
    switch function {
    case .count:
      guard case .int(let number) = stored else { return nil }
      return .int(number &+ Int64(count))
    case .sum:
      // A sum at a bound may be clamped.
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
  /// How the value that `min` or `max` selects compares with the other one.
  fileprivate var direction: Value.Order? {
    switch self {
    case .min: .before
    case .max: .after
    default: nil
    }
  }
}
