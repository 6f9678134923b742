import Foundation
import StoreValues

/// Random values of the types that order by more than their bytes: few different ones, so that they meet, and every
/// edge.
public enum RandomMixed {
  /// Equal ones with different digits, edges of 34 digits, and what is between doubles.
  public static let decimals: [Decimal128] = [
    "0", "-0", "0E+3", "1", "1.0", "1.00", "-1.5", "-1.50", "0.1", "0.3", "2", "1E+3", "1000", "9.007199254740993E+15",
    "NaN", "Infinity", "-Infinity", "1E-6176", "-1E-6176", "9.999999999999999999999999999999999E+6144",
    "1.234567890123456789012345678901234", "-123456789012345678901234567890.1234", "9223372036854775808",
    "-9223372036854775808",
  ].compactMap { Decimal128($0) }

  /// Of a decimal, ObjectId or mixed column; null for any other type.
  public static func value(_ type: ValueType, _ random: inout SeededGenerator) -> Value {
    switch type {
    case .objectId:
      return .objectId(ObjectId(bytes: [UInt8(random.below(30)), 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 9]) ?? .zero)
    case .decimal: return .decimal(decimals.randomElement(using: &random) ?? .zero)
    case .mixed: return mixed(&random, depth: 0)
    default: return .null
    }
  }

  private static func mixed(_ random: inout SeededGenerator, depth: Int) -> Value {
    let doubles: [Double] = [0, -0.0, .nan, .infinity, -.infinity, 1, -1.5, 0.1, 1e300, 0x1p53, .leastNonzeroMagnitude]
    switch random.below(depth < 3 ? 15 : 13) {
    case 0: return depth == 0 ? .bool(false) : .null
    case 1: return .bool(random.oneIn(2))
    case 2, 3: return .int([Int64.min, .max, 0, 1, -1, 9_007_199_254_740_993, 2][random.below(7)])
    case 4: return .float(Float(doubles.randomElement(using: &random) ?? 0))
    case 5: return .double(doubles.randomElement(using: &random) ?? 0)
    case 6: return .string(["", "a", "a\0b", "b", "é", "e\u{301}", "\0"].randomElement(using: &random) ?? "")
    case 7: return .data([Data(), Data([0]), Data([0, 255, 1]), Data([97])].randomElement(using: &random) ?? Data())
    case 8: return .date(TimestampSamples.any(&random))
    case 9: return .uuid(UUID(uuid: (UInt8(random.below(3)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))
    case 10: return value(.objectId, &random)
    case 11: return value(.decimal, &random)
    case 12: return .object(ObjectLink(TableID(UInt16(1 + random.below(2))), ObjectKey(Int64(1 + random.below(4)))))
    case 13: return .list((0..<random.below(4)).map { _ in mixed(&random, depth: depth + 1) })
    default:
      return .map(
        ValueMap(
          (0..<random.below(4)).map { _ in
            ValueMap.Entry(["", "a", "b", "é", "\0"][random.below(5)], mixed(&random, depth: depth + 1))
          }))
    }
  }
}
