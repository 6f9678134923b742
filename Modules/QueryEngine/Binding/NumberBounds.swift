import StoreValues

/// Exact bounds in one numeric type for constants of another: `age > 2.5` over integers begins at 3, and `ratio <
/// 9007199254740993` over doubles ends at 9007199254740992. nil: no value of the type is on that side.
enum NumberBounds {
  /// The least integer that is above `value`, or equal to it where `orEqual`.
  static func lowest(above value: Value, orEqual: Bool) -> Int64? {
    switch value {
    case .int(let n): return orEqual ? n : (n == .max ? nil : n + 1)
    case .float, .double:
      guard let d = double(value), !d.isNaN, d < 0x1p63 else { return nil }
      if d < -0x1p63 { return .min }
      let floor = d.rounded(.down)
      let whole = Int64(floor)  // in range by the two lines above
      return orEqual && floor == d ? whole : (whole == .max ? nil : whole + 1)
    case .decimal(let d):
      guard let floor = d.floor else { return d.order(to: Decimal128(Int64.min)) == .before && !d.isNaN ? .min : nil }
      return orEqual && floor.isExact ? floor.integer : (floor.integer == .max ? nil : floor.integer + 1)
    default: return nil
    }
  }

  /// The greatest integer that is below `value`, or equal to it where `orEqual`.
  static func highest(below value: Value, orEqual: Bool) -> Int64? {
    switch value {
    case .int(let n): return orEqual ? n : (n == .min ? nil : n - 1)
    case .float, .double:
      guard let d = double(value), !d.isNaN, d >= -0x1p63 else { return nil }
      if d >= 0x1p63 { return .max }
      let floor = d.rounded(.down)
      let whole = Int64(floor)  // in range by the two lines above
      if floor < d || orEqual { return whole }
      return whole == .min ? nil : whole - 1
    case .decimal(let d):
      guard let floor = d.floor else { return d.order(to: Decimal128(Int64.max)) == .after ? .max : nil }
      if !floor.isExact || orEqual { return floor.integer }
      return floor.integer == .min ? nil : floor.integer - 1
    default: return nil
    }
  }

  /// The least double that is above `value`, or equal to it where `orEqual`.
  static func lowestDouble(above value: Value, orEqual: Bool) -> Double? {
    guard let (d, order) = nearest(value) else { return nil }
    switch order {
    case .before: return d  // the value is below the double
    case .after: return d.nextUp
    case .same: return orEqual ? d : (d == .infinity ? nil : d.nextUp)
    }
  }

  /// The greatest double that is below `value`, or equal to it where `orEqual`.
  static func highestDouble(below value: Value, orEqual: Bool) -> Double? {
    guard let (d, order) = nearest(value) else { return nil }
    switch order {
    case .before: return d.nextDown
    case .after: return d
    case .same: return orEqual ? d : (d == -.infinity ? nil : d.nextDown)
    }
  }

  /// The double that equals the value.
  static func exactDouble(_ value: Value) -> Double? {
    guard let (d, order) = nearest(value), order == .same else { return nil }
    return d
  }

  /// The integer that equals the value.
  static func exactInteger(_ value: Value) -> Int64? {
    guard let low = lowest(above: value, orEqual: true), low == highest(below: value, orEqual: true) else { return nil }
    return low
  }

  /// Rounds to Float towards the inside of an interval whose bound is `d`.
  static func float(atLeast d: Double) -> Float {
    let f = Float(d)
    return Double(f) < d ? f.nextUp : f
  }
  static func float(atMost d: Double) -> Float {
    let f = Float(d)
    return Double(f) > d ? f.nextDown : f
  }

  /// The nearest double and on which side of it the value lies. nil for NaN and for values that are not numbers.
  private static func nearest(_ value: Value) -> (Double, Value.Order)? {
    if case .int(let n) = value {
      let d = Double(n)
      return (d, Value.Order.compare(n, d))
    }
    if case .decimal(let decimal) = value {
      let floor = decimal.floorDouble
      return floor.double.isNaN ? nil : (floor.double, floor.isExact ? .same : .after)
    }
    guard let d = double(value), !d.isNaN else { return nil }
    return (d, .same)
  }

  private static func double(_ value: Value) -> Double? {
    switch value {
    case .float(let f): Double(f)
    case .double(let d): d
    default: nil
    }
  }
}
