import Foundation
import StoreValues
import VivariumTestSupport

/// Values of every type: those at its ends, and any.
enum ScalarSamples {
  static func extremes(_ type: ValueType) -> [Value] {
    if let range = type.integerRange { return [range.lowerBound, range.upperBound, 0, -1, 1].map { .int($0) } }
    switch type {
    case .bool: return [.bool(true), .bool(false)]
    case .float:
      return [
        0, -0.0, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
        .leastNormalMagnitude, .signalingNaN,
      ].map { .float($0) }
    case .double: return doubles.map { .double($0) }
    case .date: return TimestampSamples.edges.map { .date($0) } + [.date(Timestamp(.distantPast)), .date(Timestamp(.distantFuture))]
    case .string:
      return ["", "\0", "a\0b", "e\u{301}", "é", "\u{FEFF}", "👩‍👩‍👧", String(repeating: "日", count: 6_000)].map { .string($0) }
    case .data: return [Data(), Data([0]), Data(repeating: 255, count: 20_000)].map { .data($0) }
    case .uuid: return [uuid(0), uuid(255), uuid(127)]
    case .objectId: return [.objectId(.zero), .objectId(ObjectId()), .objectId(ObjectId("ffffffffffffffffffffffff") ?? .zero)]
    case .decimal:
      return [
        "0", "-0", "0E-6176", "0E+6111", "1.5", "1.50", "1E-6176", "9.999999999999999999999999999999999E+6144", "NaN", "Infinity",
        "-Infinity", "-0.1",
      ].map { .decimal(Decimal128($0) ?? .nan) }
    case .mixed:
      let scalars: [ValueType] = [.bool, .int64, .float, .double, .string, .data, .date, .uuid, .objectId, .decimal]
      let all = scalars.flatMap { extremes($0).prefix(4) }
      return [.null, .list([]), .map(ValueMap()), .list(all), .map(ValueMap([.init("", .null), .init("é", .list(all))])), nested(99)] + all
    default: return []
    }
  }

  private static let doubles: [Double] = [
    0, -0.0, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
    .leastNormalMagnitude, 0.1, .signalingNaN,
  ]

  private static func uuid(_ byte: UInt8) -> Value {
    .uuid(UUID(uuid: (byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte)))
  }

  /// Lists inside each other.
  static func nested(_ depth: Int) -> Value { (0..<depth).reduce(.int(1)) { value, _ in .list([value]) } }

  static func any(_ type: ValueType, _ random: inout SeededGenerator) -> Value {
    if let range = type.integerRange { return .int(Int64.random(in: range, using: &random)) }
    switch type {
    case .bool: return .bool(random.oneIn(2))
    case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
    case .double: return .double(Double(bitPattern: random.next()))
    case .date: 
      return .date(random.oneIn(2) ? Timestamp(secondsSinceReferenceDate: Double(bitPattern: random.next())) : TimestampSamples.any(&random))
    case .string:
      let scalars = (0..<random.below(40)).map { _ in Unicode.Scalar(UInt32(random.below(0xD7FF))) ?? "x" }
      return .string(String(String.UnicodeScalarView(scalars)))
    case .data: return .data(Data((0..<random.below(60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }))
    case .uuid:
      return .uuid(UUID(uuid: withUnsafeBytes(of: (random.next(), random.next())) { $0.loadUnaligned(as: uuid_t.self) }))
    case .objectId:
      let digits = (0..<24).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "0" }
      return .objectId(ObjectId(String(digits)) ?? .zero)
    case .decimal:
      let digits = (0..<1 + random.below(34)).map { _ in "\(random.below(10))" }.joined()
      return .decimal(Decimal128("\(random.oneIn(2) ? "-" : "")\(digits)E\(random.below(6_000) - 3_000)") ?? .nan)
    case .mixed:
      let types: [ValueType] = [.bool, .int64, .float, .double, .string, .data, .date, .uuid, .objectId, .decimal, .mixed]
      if random.oneIn(4) { return .list((0..<random.below(3)).map { _ in any(types[random.below(types.count)], &random) }) }
      return any(types[random.below(types.count - 1)], &random)
    default: return .null
    }
  }

  /// Each value once, as the total order says it, the first of several; in that order.
  static func distinct(_ values: [Value]) -> [Value] {
    var kept: [Value] = []
    for value in values where !kept.contains(where: { $0.order(to: value) == .same }) { kept.append(value) }
    return kept.sorted { $0.order(to: $1) == .before }
  }
}
