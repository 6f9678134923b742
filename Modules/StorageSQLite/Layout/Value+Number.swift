import StoreValues

extension Value {
  /// Whether the value is the number zero of either sign.
  var isZero: Bool {
    switch self {
    case .int(let x): x == 0
    case .float(let x): x == 0
    case .double(let x): x == 0
    default: false
    }
  }
}
