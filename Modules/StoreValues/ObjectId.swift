/// A 12-byte identifier as in MongoDB and Realm: 4 bytes of time, 5 bytes of process, 3 bytes of counter.
///
/// Ordered by its bytes, and so roughly by the second of its creation. `ObjectId()` makes a new one:
///
///     let id = ObjectId()
///     let same = ObjectId(id.description)   // 24 hexadecimal digits
public struct ObjectId: Sendable, Hashable {
  /// The first 8 bytes, the most significant first.
  let high: UInt64
  /// The last 4 bytes, the most significant first.
  let low: UInt32

  /// 12 zero bytes.
  public static let zero = ObjectId(high: 0, low: 0)

  init(high: UInt64, low: UInt32) {
    self.high = high
    self.low = low
  }

  /// From 12 bytes; nil for any other count.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 12 else { return nil }
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The 12 bytes, in order.
  public var bytes: [UInt8] {
    withUnsafeBytes(of: high.bigEndian) { Array($0) } + withUnsafeBytes(of: low.bigEndian) { Array($0) }
  }

  /// Seconds since 1970, from the first 4 bytes.
  public var seconds: UInt32 { UInt32(truncatingIfNeeded: high >> 32) }
}

extension ObjectId: Comparable {
  /// By bytes.
  public static func < (a: ObjectId, b: ObjectId) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension ObjectId: LosslessStringConvertible {
  /// From 24 hexadecimal digits of either case; nil for any other text.
  public init?(_ text: String) {
    guard text.utf8.count == 24, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt32(text.dropFirst(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  /// 24 lower-case hexadecimal digits.
  public var description: String {
    let (front, back) = (String(high, radix: 16), String(low, radix: 16))
    return String(repeating: "0", count: 16 - front.count) + front + String(repeating: "0", count: 8 - back.count) + back
  }
}

extension ObjectId: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = ObjectId(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "An ObjectId is 24 hexadecimal digits.")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
