#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Value {
  /// The single order of values, used by sorting, by indexes and by range conditions.
  ///
  /// Null first, then NaN, then numbers by value across all numeric types, including decimals (−0.0 equals 0.0), strings and
  /// data by bytes, dates by time with NaN first, ObjectIds and UUIDs by bytes, links by table and key, lists by their first
  /// difference, maps by the first difference of their keys and values in turn. The order of kinds is null, bool, numbers,
  /// string, data, date, objectId, uuid, link, list, map, as Realm orders mixed values. It is a total preorder: two values that
  /// are `same` may differ in bits (0.0 and −0.0, 1 and 1.0).
  public enum Order: Int, Sendable { case before = -1, same = 0, after = 1 }

  /// Compares with another value: see `Order`. O(1), O(bytes) for texts and data, O(elements) for lists and maps.
  public func order(to other: Value) -> Order {
    let (a, b) = (kindRank, other.kindRank)
    if a != b { return a < b ? .before : .after }
    switch (self, other) {
    case (.bool(let x), .bool(let y)): return Order(x ? 1 : 0, y ? 1 : 0)
    case (.int(let x), .int(let y)): return Order(x, y)
    case (.decimal(let x), .decimal(let y)): return x.order(to: y)
    case (.decimal(let x), .int(let y)): return x.order(to: Decimal128(y))
    case (.int(let x), .decimal(let y)): return Decimal128(x).order(to: y)
    case (.decimal(let x), _): return x.order(to: other.asDouble)
    case (_, .decimal(let y)): return y.order(to: asDouble).reversed
    case (.int(let x), _): return Order.compare(x, other.asDouble)
    case (_, .int(let y)): return Order.compare(y, asDouble).reversed
    case (.float, _), (.double, _): return Order.compare(asDouble, other.asDouble)
    case (.string(let x), .string(let y)): return Order.compare(x.utf8, y.utf8)
    case (.data(let x), .data(let y)): return Order.compare(x, y)
    case (.date(let x), .date(let y)): return Order(x, y)
    case (.uuid, .uuid):
      return withBytes { x in other.withBytes { y in Order.compare(x ?? .init(start: nil, count: 0), y ?? .init(start: nil, count: 0)) } }
    case (.objectId(let x), .objectId(let y)): return Order(x, y)
    case (.list(let x), .list(let y)): return Value.order(x, y)
    case (.map(let x), .map(let y)): return Value.order(x, y)
    default: return linkOrder(to: other)
    }
  }

  /// Compares two links; the only other pair of one kind that gets here is null and null, which are the same.
  private func linkOrder(to other: Value) -> Order {
    guard let x = asLink, let y = other.asLink else { return .same }
    return Order(x, y)
  }

  private var asLink: ObjectLink? {
    switch self {
    case .link(let key): ObjectLink(TableID(0), key)
    case .object(let link): link
    default: nil
    }
  }

  private static func order(_ a: [Value], _ b: [Value]) -> Order {
    for (x, y) in zip(a, b) {
      let order = x.order(to: y)
      if order != .same { return order }
    }
    return Order(a.count, b.count)
  }

  private static func order(_ a: ValueMap, _ b: ValueMap) -> Order {
    for (x, y) in zip(a.entries, b.entries) {
      let keys = Order.compare(x.key.utf8, y.key.utf8)
      if keys != .same { return keys }
      let values = x.value.order(to: y.value)
      if values != .same { return values }
    }
    return Order(a.count, b.count)
  }

  /// The rank of the value's kind.
  public var kindRank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .int, .float, .double, .decimal: 2
    case .string: 3
    case .data: 4
    case .date: 5
    case .objectId: 6
    case .uuid: 7
    case .link, .object: 8
    case .list: 9
    case .map: 10
    }
  }

  private var asDouble: Double {
    switch self {
    case .float(let x): Double(x)
    case .double(let x): x
    default: .nan  // unreachable: only called for float and double
    }
  }
}

extension Value.Order {
  init<T: Comparable>(_ a: T, _ b: T) { self = a < b ? .before : (b < a ? .after : .same) }

  /// The reverse order.
  public var reversed: Self {
    switch self {
    case .before: .after
    case .same: .same
    case .after: .before
    }
  }

  /// Compares doubles in query order: NaN below every number and equal to itself, −0.0 equal to 0.0.
  public static func compare(_ a: Double, _ b: Double) -> Self {
    if a < b { return .before }
    if a > b { return .after }
    if a == b { return .same }
    return a.isNaN ? (b.isNaN ? .same : .before) : .after
  }

  /// Compares an integer with a double exactly, without rounding the integer.
  public static func compare(_ a: Int64, _ b: Double) -> Self {
    if b.isNaN { return .after }
    if b >= 0x1p63 { return .before }
    if b < -0x1p63 { return .after }
    let whole = b.rounded(.down)
    let integer = Int64(whole)
    if a != integer { return a < integer ? .before : .after }
    return whole < b ? .before : .same
  }

  /// Compares bytes as `memcmp`; a prefix sorts before the longer bytes.
  public static func compare(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Self {
    if a.lexicographicallyPrecedes(b) { return .before }
    return a.elementsEqual(b) ? .same : .after
  }
}
