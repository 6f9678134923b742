import Foundation
import QueryModel
import StoreValues

/// Arithmetic on values. Null if an operand is null or not a number. Integers stay integers and wrap around at 64 bits.
/// Dividing an integer by 0 gives the greatest integer, or the lowest for a negative dividend, as doubles give infinity. A
/// float with an integer or a float gives a float; a decimal with anything gives a decimal.
enum Arithmetic {
  static func result(_ sign: ArithmeticOperator, _ a: Value, _ b: Value) -> Value {
    switch (a, b) {
    case (.int(let x), .int(let y)): return result(sign, x, y)
    case (.decimal, _), (_, .decimal):
      guard let x = decimal(a), let y = decimal(b) else { return .null }
      return result(sign, x, y)
    case (.float, .float), (.float, .int), (.int, .float):
      guard let x = real(a), let y = real(b) else { return .null }
      return .float(result(sign, Float(x), Float(y)))
    default:
      guard let x = real(a), let y = real(b) else { return .null }
      return .double(sign == .power ? pow(x, y) : result(sign, x, y))
    }
  }

  private static func result(_ sign: ArithmeticOperator, _ x: Int64, _ y: Int64) -> Value {
    switch sign {
    case .add: .int(x &+ y)
    case .subtract: .int(x &- y)
    case .multiply: .int(x &* y)
    case .divide: .int(y == 0 ? (x < 0 ? .min : .max) : x.dividedReportingOverflow(by: y).partialValue)
    case .power: power(x, y)
    }
  }

  private static func result<Real: BinaryFloatingPoint>(_ sign: ArithmeticOperator, _ x: Real, _ y: Real) -> Real {
    switch sign {
    case .add: x + y
    case .subtract: x - y
    case .multiply: x * y
    case .divide: x / y
    case .power: Real(pow(Double(x), Double(y)))
    }
  }

  private static func result(_ sign: ArithmeticOperator, _ x: Decimal128, _ y: Decimal128) -> Value {
    switch sign {
    case .add: .decimal(x + y)
    case .subtract: .decimal(x - y)
    case .multiply: .decimal(x * y)
    case .divide: .decimal(x / y)
    case .power: .double(pow(Double(x), Double(y)))
    }
  }

  private static func power(_ base: Int64, _ exponent: Int64) -> Value {
    guard (0...63).contains(exponent) else { return .double(pow(Double(base), Double(exponent))) }
    var result: Int64 = 1
    for _ in 0..<exponent {
      let (next, overflow) = result.multipliedReportingOverflow(by: base)
      if overflow { return .double(pow(Double(base), Double(exponent))) }
      result = next
    }
    return .int(result)
  }

  private static func real(_ value: Value) -> Double? {
    switch value {
    case .int(let x): Double(x)
    case .float(let x): Double(x)
    case .double(let x): x
    case .decimal(let x): Double(x)
    default: nil
    }
  }

  static func decimal(_ value: Value) -> Decimal128? {
    switch value {
    case .int(let x): Decimal128(x)
    case .float(let x): Decimal128(shortest: x)
    case .double(let x): Decimal128(shortest: x)
    case .decimal(let x): x
    default: nil
    }
  }

  /// The aggregate of a collection's values, without nulls. In a mixed collection only numbers are summed, as decimals.
  static func aggregate(_ aggregate: CollectionAggregate, _ values: [Value], _ type: ValueType) -> Value {
    let values = values.filter { !$0.isNull && !(aggregate == .min || aggregate == .max || type == .mixed ? $0.isNaN : false) }
    switch aggregate {
    case .count: return .int(Int64(values.count))
    case .min: return values.min { $0.order(to: $1) == .before } ?? .null
    case .max: return values.max { $0.order(to: $1) == .before } ?? .null
    case .sum: return sum(values, type)
    case .average:
      let counted = type == .mixed ? values.count { decimal($0) != nil } : values.count
      guard counted > 0 else { return .null }
      switch sum(values, type) {
      case .decimal(let sum): return .decimal(sum / Decimal128(counted))
      case let sum: return real(sum).map { .double($0 / Double(counted)) } ?? .null
      }
    }
  }

  private static func sum(_ values: [Value], _ type: ValueType) -> Value {
    switch type {
    case .decimal, .mixed: .decimal(decimalSum(values))
    case .float, .double: .double(values.reduce(0) { sum, value in sum + (real(value) ?? 0) })
    default: exactSum(values)
    }
  }

  /// The sum of numbers as decimals, added exactly and rounded once, as everywhere: it does not depend on their order.
  private static func decimalSum(_ values: [Value]) -> Decimal128 {
    var sum = DecimalSum()
    for value in values { if let number = decimal(value) { sum.add(number) } }
    return sum.value
  }

  /// The exact sum of integers; a double if 64 bits cannot hold it.
  private static func exactSum(_ values: [Value]) -> Value {
    let sum = values.reduce(Int128(0)) { sum, value in if case .int(let x) = value { sum + Int128(x) } else { sum } }
    return Int64(exactly: sum).map(Value.int) ?? .double(Double(sum))
  }
}
