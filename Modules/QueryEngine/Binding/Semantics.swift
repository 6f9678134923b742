#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import QueryModel
import StoreValues

/// The meaning of a comparison of two values. This is the definition: tests over stored words, index ranges and an engine's own
/// queries are faster ways to the same answer.
///
/// Null is a value: equal to null, unequal to all others. Nothing is below or above null or NaN, except that a null string is
/// below every string. `<=` means `<`, equal, or both null. NaN equals nothing.
enum Semantics {
  static func holds(_ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
    switch comparator {
    case .equal, .in: isEqual(a, b)
    case .notEqual: !isEqual(a, b)
    case .less: isLess(a, b)
    case .greater: isLess(b, a)
    case .lessOrEqual: isLess(a, b) || isEqual(a, b)
    case .greaterOrEqual: isLess(b, a) || isEqual(a, b)
    case .between: false  // bound as two comparisons
    case .contains, .beginsWith, .endsWith: matches(a, comparator, b)
    case .like, .matches, .text: false  // bound as tests of text
    }
  }

  static func isEqual(_ a: Value, _ b: Value) -> Bool {
    if a.isNull || b.isNull { return a.isNull && b.isNull }
    return !a.isNaN && !b.isNaN && order(a, b) == .same
  }

  static func isLess(_ a: Value, _ b: Value) -> Bool {
    if b.isNull { return false }
    if a.isNull { if case .string = b { return true } else { return false } }
    return !a.isNaN && !b.isNaN && a.kindRank == b.kindRank && order(a, b) == .before
  }

  /// Compares a decimal and a binary fraction by their shortest decimal form: decimal 0.1 equals double 0.1.
  private static func order(_ a: Value, _ b: Value) -> Value.Order {
    switch (a, b) {
    case (.decimal(let x), .double(let y)): x.order(to: Decimal128(shortest: y))
    case (.double(let x), .decimal(let y)): Decimal128(shortest: x).order(to: y)
    case (.decimal(let x), .float(let y)): x.order(to: Decimal128(shortest: y))
    case (.float(let x), .decimal(let y)): Decimal128(shortest: x).order(to: y)
    default: a.order(to: b)
    }
  }

  private static func matches(_ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
    if a.kindRank != b.kindRank { return false }
    return a.withBytes { a in
      b.withBytes { b in
        guard let a, let b else { return false }
        if b.isEmpty { return true }
        let needle = Array(b)
        return switch comparator {
        case .beginsWith: Bytes.begins(a, needle)
        case .endsWith: Bytes.ends(a, needle)
        default: Bytes.find(needle, in: a)
        }
      }
    }
  }
}
