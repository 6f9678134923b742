#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import QueryModel
import StoreValues

extension ScalarTest {
  /// The test `property comparator constant`, and whether to negate it. The constant is null or of the property's class. nil
  /// for comparators without such a test (`IN`, `BETWEEN`).
  static func comparing(_ type: ValueType, _ comparator: ComparisonOperator, _ constant: Value) -> (ScalarTest, isNegated: Bool)? {
    if !type.ordersByBytes {
      let test = comparator == .notEqual ? .equal : comparator
      guard [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .contains, .beginsWith, .endsWith].contains(comparator)
      else { return nil }
      return (valued(type, test, constant), comparator == .notEqual)
    }
    return switch comparator {
    case .equal: (equal(type, constant), false)
    case .notEqual: (equal(type, constant), true)
    case .less, .lessOrEqual: (below(type, constant, orEqual: comparator == .lessOrEqual), false)
    case .greater, .greaterOrEqual: (above(type, constant, orEqual: comparator == .greaterOrEqual), false)
    case .contains, .beginsWith, .endsWith: (matching(comparator, constant), false)
    case .in, .between, .like, .matches, .text: nil
    }
  }

  /// A test for a type whose bytes do not sort as its values.
  private static func valued(_ type: ValueType, _ comparator: ComparisonOperator, _ constant: Value) -> ScalarTest {
    if constant.isNull { return [.equal, .lessOrEqual, .greaterOrEqual].contains(comparator) ? .isNull : .never }
    return ScalarTest(.bytes(.value(ValueTest(type, comparator, [constant]))))
  }

  private static func equal(_ type: ValueType, _ constant: Value) -> ScalarTest {
    if constant.isNull { return .isNull }
    switch type.physical {
    case .integer:
      guard let word = word(constant) else { return .never }
      return words(word, word, of: type)
    case .double, .float:
      guard let double = double(constant) else { return .never }
      return type.physical == .float
        ? .floats(NumberBounds.float(atLeast: double), NumberBounds.float(atMost: double)) : .doubles(double, double)
    case .bytes, .bytes16: return ScalarTest(.bytes(.equal(bytes(constant))))
    }
  }

  /// Clamps the bounds to the type's range: no bound stands for a value the type does not have. The NaN of dates is below the
  /// range.
  private static func words(_ low: Int64, _ high: Int64, of type: ValueType) -> ScalarTest {
    let range = type.wordRange ?? Int64.min...Int64.max
    let (low, high) = (max(low, range.lowerBound), min(high, range.upperBound))
    return .words(low, high)
  }

  private static func below(_ type: ValueType, _ constant: Value, orEqual: Bool) -> ScalarTest {
    if constant.isNull { return orEqual ? .isNull : .never }
    switch type.physical {
    case .integer:
      let high = type.isNumber ? NumberBounds.highest(below: constant, orEqual: orEqual) : before(constant, orEqual)
      return high.map { words(.min, $0, of: type) } ?? .never
    case .double, .float:
      guard let high = NumberBounds.highestDouble(below: constant, orEqual: orEqual) else { return .never }
      return type.physical == .float
        ? .floats(-.infinity, NumberBounds.float(atMost: high)) : .doubles(-.infinity, high)
    case .bytes, .bytes16:
      let range = BytesRange(upper: bytes(constant), includesUpper: orEqual)
      return ScalarTest(.bytes(.range(range)), matchesNull: type == .string)  // a null string is below ""
    }
  }

  private static func above(_ type: ValueType, _ constant: Value, orEqual: Bool) -> ScalarTest {
    if constant.isNull { return orEqual ? .isNull : .never }
    switch type.physical {
    case .integer:
      let low = type.isNumber ? NumberBounds.lowest(above: constant, orEqual: orEqual) : after(constant, orEqual)
      return low.map { words($0, .max, of: type) } ?? .never
    case .double, .float:
      guard let low = NumberBounds.lowestDouble(above: constant, orEqual: orEqual) else { return .never }
      return type.physical == .float
        ? .floats(NumberBounds.float(atLeast: low), .infinity) : .doubles(low, .infinity)
    case .bytes, .bytes16:
      return ScalarTest(.bytes(.range(BytesRange(lower: bytes(constant), includesLower: orEqual))))
    }
  }

  private static func matching(_ comparator: ComparisonOperator, _ constant: Value) -> ScalarTest {
    if constant.isNull { return .never }
    let needle = bytes(constant)
    if needle.isEmpty { return ScalarTest(.bytes(.range(.all))) }
    switch comparator {
    case .beginsWith: return ScalarTest(.bytes(.prefix(needle)))
    case .endsWith: return ScalarTest(.bytes(.suffix(needle)))
    default: return ScalarTest(.bytes(.contains(needle)))
    }
  }

  /// The test `property IN constants`.
  static func among(_ type: ValueType, _ constants: [Value]) -> ScalarTest {
    let matchesNull = constants.contains { $0.isNull }
    if !type.ordersByBytes {
      // Without duplicates: an index is read for each of them.
      var values: [Value] = []
      for value in constants.filter({ !$0.isNull }).sorted(by: { $0.order(to: $1) == .before })
      where values.last?.order(to: value) != .same { values.append(value) }
      return ScalarTest(values.isEmpty ? .none : .bytes(.value(ValueTest(type, .in, values))), matchesNull: matchesNull)
    }
    switch type.physical {
    case .integer:
      guard let set = WordMembership(constants.compactMap(word)), let last = set.sorted.last else {
        return ScalarTest(.none, matchesNull: matchesNull)
      }
      let isRun = UInt64(bitPattern: last &- set.sorted[0]) == UInt64(set.sorted.count - 1)
      return isRun
        ? .words(set.sorted[0], last, matchesNull: matchesNull) : ScalarTest(.wordSet(set), matchesNull: matchesNull)
    case .double, .float:
      var set: [Double] = []
      for number in constants.compactMap(double).sorted() where number != set.last { set.append(number) }
      return ScalarTest(set.isEmpty ? .none : .doubleSet(set), matchesNull: matchesNull)
    case .bytes, .bytes16:
      var set: [[UInt8]] = []
      for bytes in constants.filter({ !$0.isNull }).map(bytes).sorted(by: { a, b in a.lexicographicallyPrecedes(b) })
      where bytes != set.last { set.append(bytes) }
      if set.isEmpty { return ScalarTest(.none, matchesNull: matchesNull) }
      return ScalarTest(.bytes(set.count == 1 ? .equal(set[0]) : .set(set)), matchesNull: matchesNull)
    }
  }

  /// The word that equals a constant of an integer column's class: a number, Bool, link or date. nil for NaN.
  private static func word(_ constant: Value) -> Int64? {
    switch constant {
    case .bool, .link: constant.word
    case .date(let date): date.isNaN ? nil : date.word
    default: NumberBounds.exactInteger(constant)
    }
  }

  /// The double that equals a number; nil for NaN.
  private static func double(_ constant: Value) -> Double? { NumberBounds.exactDouble(constant) }

  /// The greatest word of Bools, links or dates below a constant, or equal to it if `orEqual`; `after` gives the least above.
  private static func before(_ constant: Value, _ orEqual: Bool) -> Int64? {
    word(constant).flatMap { orEqual ? $0 : ($0 == .min ? nil : $0 - 1) }
  }
  private static func after(_ constant: Value, _ orEqual: Bool) -> Int64? {
    word(constant).flatMap { orEqual ? $0 : ($0 == .max ? nil : $0 + 1) }
  }

  private static func bytes(_ constant: Value) -> [UInt8] { constant.withBytes { $0.map { Array($0) } ?? [] } }
}

extension ValueType {
  var isNumber: Bool { ValueClass(self) == .number }
}
