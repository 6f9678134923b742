import StoreValues

/// Points in time that are easily mistaken for each other, or for none.
public enum TimestampSamples {
  /// In no order: a nanosecond apart, at 1970 and 2001, where nanoseconds end, the years 1 and 10000, the last Doubles, the
  /// infinities and NaN.
  public static let edges: [Timestamp] =
    [0, 1, -1, 2, 1_500_000_000, -1_500_000_000, (1 << 62) - 1, 1 << 62, (1 << 62) + 1, 1 - (1 << 62), -(1 << 62)].map { Timestamp(word: $0) }
    + [-978_307_200, -63_113_904_000, 252_423_993_600, 1e300, -1e300, .greatestFiniteMagnitude, -.greatestFiniteMagnitude]
    .map { Timestamp(secondsSinceReferenceDate: $0) }
    + [Timestamp(secondsSince1970: 0, nanoseconds: 1), Timestamp(secondsSince1970: 0, nanoseconds: -1), .infinity, .negativeInfinity, .nan]

  /// A few of those, so that values meet again, and neighbours of them.
  public static func any(_ random: inout SeededGenerator) -> Timestamp {
    if random.oneIn(3) { return edges.randomElement(using: &random) ?? .reference }
    return Timestamp(secondsSince1970: 0, nanoseconds: Int64(random.below(6)) - 3)
  }
}
