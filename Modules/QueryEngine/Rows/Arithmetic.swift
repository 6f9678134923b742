#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import QueryModel
import Values

/// Computing with values: null where an operand is, integers as long as they fit and doubles beyond.
/// Dividing integers by 0 gives NaN, which compares with nothing.
enum Arithmetic {
  static func result(_ sign: ArithmeticOperator, _ a: Value, _ b: Value) -> Value {
    if case .int(let x) = a, case .int(let y) = b {
      switch sign {
      case .add: return whole(x.addingReportingOverflow(y), Double(x) + Double(y))
      case .subtract: return whole(x.subtractingReportingOverflow(y), Double(x) - Double(y))
      case .multiply: return whole(x.multipliedReportingOverflow(by: y), Double(x) * Double(y))
      case .divide: return y == 0 ? .double(.nan) : whole(x.dividedReportingOverflow(by: y), Double(x) / Double(y))
      }
    }
    guard let x = real(a), let y = real(b) else { return .null }
    return switch sign {
    case .add: .double(x + y)
    case .subtract: .double(x - y)
    case .multiply: .double(x * y)
    case .divide: .double(x / y)
    }
  }

  private static func whole(_ result: (partialValue: Int64, overflow: Bool), _ beyond: Double) -> Value {
    result.overflow ? .double(beyond) : .int(result.partialValue)
  }

  private static func real(_ value: Value) -> Double? {
    switch value {
    case .int(let x): Double(x)
    case .float(let x): Double(x)
    case .double(let x): x
    default: nil
    }
  }

  /// Of values that are not null.
  static func aggregate(_ aggregate: CollectionAggregate, _ values: [Value], _ type: ValueType) -> Value {
    switch aggregate {
    case .count: return .int(Int64(values.count))
    case .min: return values.filter { !Semantics.isNaN($0) }.min { $0.order(to: $1) == .before } ?? .null
    case .max: return values.filter { !Semantics.isNaN($0) }.max { $0.order(to: $1) == .before } ?? .null
    case .sum:
      let zero: Value = type.physical == .integer ? .int(0) : .double(0)
      return values.reduce(zero) { result(.add, $0, $1) }
    case .average:
      guard !values.isEmpty, let sum = real(values.reduce(.int(0)) { result(.add, $0, $1) }) else { return .null }
      return .double(sum / Double(values.count))
    }
  }
}
