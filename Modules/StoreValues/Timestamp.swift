#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A point in time, exact to the nanosecond: the stored form of a `Date`.
///
/// ```swift
/// let moment = Timestamp(secondsSince1970: 1_600_000_000, nanoseconds: 1)
/// moment > Timestamp(secondsSince1970: 1_600_000_000)      // a Date could not tell them apart
/// moment.date                                              // rounded to the next Date
/// ```
///
/// One 64-bit word that sorts as time when compared as an integer: NaN first, then −infinity to infinity.
///
/// | `word` | stands for |
/// |---|---|
/// | within ±2⁶² (146 years) | nanoseconds since 2001-01-01 00:00 UTC |
/// | from 2⁶² | 2⁶² + (bits of the Double of seconds − bits of the least Double that is not below 2⁶² nanoseconds) |
/// | to −2⁶² | the negative of that of the opposite time |
/// | `Int64.min + 1` | NaN |
///
/// So within 146 years of 2001 it is finer than a `Date`, and beyond it equals a `Date`. A `Date` more than 2²³ s (97 days) from
/// 2001-01-01 round-trips bit for bit: its neighbours are more than a nanosecond away. A closer one is rounded to the nearest
/// nanosecond, and returns within a nanosecond; −0.0 returns as 0.0. Conversely, a timestamp closer than that round-trips
/// through its `Date`; a farther one is rounded to the precision of a `Date`.
public struct Timestamp: Sendable, Hashable {
  /// See the table above. The least and the greatest Int64 are not times: orders use them for null and for missing values.
  public let word: Int64

  /// From any word, even one that is not a time: below that of −infinity it is NaN, above that of infinity, infinity.
  @inlinable @inline(__always) public init(word: Int64) { self.word = word }

  /// 2001-01-01 00:00 UTC.
  public static let reference = Timestamp(word: 0)
  /// Not a time: the timestamp of a `Date` of NaN.
  public static let nan = Timestamp(word: .min + 1)
  /// After every date.
  public static let infinity = Timestamp(word: infinityWord)
  /// Before every date.
  public static let negativeInfinity = Timestamp(word: -infinityWord)

  /// Whether it is not a time: the date of a Double that is NaN. As a value it equals itself, by its bits, but in a condition
  /// nothing.
  @inlinable public var isNaN: Bool { word < -Timestamp.infinityWord }

  /// Where the nanosecond encoding ends.
  @usableFromInline static var seam: Int64 { 1 << 62 }
  /// The bits of the least Double of seconds that is not below 2⁶² nanoseconds: about 4,611,686,018.43.
  @usableFromInline static var seamBits: UInt64 { 0x41F1_2E0B_E826_D695 }
  /// 9,078,924,745,127,831,915: 63 bits are enough.
  @usableFromInline static var infinityWord: Int64 { seam + Int64(Double.infinity.bitPattern - seamBits) }
}

extension Timestamp: Comparable {
  /// By time, NaN first.
  @inlinable public static func < (a: Self, b: Self) -> Bool { a.word < b.word }
}

extension Timestamp {
  /// From seconds since 2001-01-01 00:00 UTC: the nearest nanosecond, ties away from 2001; beyond 146 years exactly the number.
  @inlinable public init(secondsSinceReferenceDate seconds: Double) {
    if seconds.isNaN {
      self = .nan
      return
    }
    let bits = seconds.magnitude.bitPattern
    if bits >= Timestamp.seamBits {
      let word = Timestamp.seam + Int64(bits - Timestamp.seamBits)
      self.init(word: seconds < 0 ? -word : word)
      return
    }
    // Both parts are exact; only the product of the fraction is rounded, by less than a millionth of a nanosecond.
    let whole = seconds.rounded(.towardZero)
    // Far below 2⁶³: the seconds are below the seam.
    self.init(word: Int64(whole) * 1_000_000_000 + Int64(((seconds - whole) * 1e9).rounded()))
  }

  /// Seconds since 2001-01-01 00:00 UTC, rounded to the nearest Double.
  @inlinable public var secondsSinceReferenceDate: Double {
    let magnitude = word.magnitude
    if magnitude < UInt64(Timestamp.seam) {
      let (seconds, nanoseconds) = word.quotientAndRemainder(dividingBy: 1_000_000_000)
      return Double(seconds) + Double(nanoseconds) / 1e9
    }
    if isNaN { return .nan }
    // At most the bits of infinity, also for words beyond it.
    let bits = min(magnitude - UInt64(Timestamp.seam) + Timestamp.seamBits, Double.infinity.bitPattern)
    return word < 0 ? -Double(bitPattern: bits) : Double(bitPattern: bits)
  }

  /// See the type for the precision of round trips.
  @inlinable public init(_ date: Date) { self.init(secondsSinceReferenceDate: date.timeIntervalSinceReferenceDate) }

  /// The nearest `Date`.
  @inlinable public var date: Date { Date(timeIntervalSinceReferenceDate: secondsSinceReferenceDate) }

  /// From the sum of seconds and nanoseconds since 2001-01-01 00:00 UTC, of any sign and size. Exact within 146 years, beyond
  /// that the nearest Double of seconds.
  public init(secondsSinceReferenceDate seconds: Int64, nanoseconds: Int64) {
    let sum = Int128(seconds) * 1_000_000_000 + Int128(nanoseconds)
    if sum.magnitude < UInt128(Timestamp.seam) {
      self.init(word: Int64(sum))
      return
    }
    let (whole, rest) = sum.quotientAndRemainder(dividingBy: 1_000_000_000)
    let nearest = Double(whole) + Double(rest) / 1e9
    // The nearest Double of a time beyond the seam may lie before it.
    let bits = max(nearest.magnitude.bitPattern, Timestamp.seamBits)
    self.init(secondsSinceReferenceDate: sum < 0 ? -Double(bitPattern: bits) : Double(bitPattern: bits))
  }

  /// From seconds and nanoseconds since 1970-01-01 00:00 UTC, as written in conditions (`T1600000000:1`) and stored by Realm.
  public init(secondsSince1970 seconds: Int64, nanoseconds: Int64 = 0) {
    let (shifted, isBeyond) = seconds.subtractingReportingOverflow(Timestamp.from1970)
    self.init(secondsSinceReferenceDate: isBeyond ? .min : shifted, nanoseconds: nanoseconds)
  }

  /// Whole seconds since 2001-01-01 00:00 UTC, rounded down, and the remaining nanoseconds, below 1,000,000,000. The
  /// initialiser restores the identical time from them. nil for NaN, the infinities and times 2⁵² seconds away or more.
  public var secondsAndNanoseconds: (seconds: Int64, nanoseconds: Int64)? {
    var (seconds, nanoseconds) = (word / 1_000_000_000, word % 1_000_000_000)
    if word.magnitude >= UInt64(Timestamp.seam) {
      let number = secondsSinceReferenceDate
      guard number.magnitude < 0x1p52 else { return nil }
      let whole = number.rounded(.down)
      // A fraction is at least a millionth below 1, so it is not rounded up to a second.
      (seconds, nanoseconds) = (Int64(whole), Int64(((number - whole) * 1e9).rounded()))
    }
    return nanoseconds < 0 ? (seconds - 1, nanoseconds + 1_000_000_000) : (seconds, nanoseconds)
  }

  /// From 1970-01-01 to 2001-01-01, in seconds.
  package static let from1970: Int64 = 978_307_200
}

extension Timestamp: Codable {
  /// Encodes its text, which is exact.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Decodes its text, or a number of seconds since 2001-01-01 00:00 UTC, as `JSONEncoder` writes a `Date`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let seconds = try? container.decode(Double.self) {
      self.init(secondsSinceReferenceDate: seconds)
      return
    }
    guard let made = Timestamp(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no point in time.")
    }
    self = made
  }
}
