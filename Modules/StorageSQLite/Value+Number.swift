#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Values

extension Value {
  /// Whether the value is the number zero of either sign.
  var isZero: Bool {
    switch asNumber {
    case .int(let x): x == 0
    case .float(let x): x == 0
    case .double(let x): x == 0
    default: false
    }
  }

  /// A date as its seconds; every other value as it is.
  var asNumber: Value {
    if case .date(let date) = self { return .double(date.timeIntervalSinceReferenceDate) }
    return self
  }
}
