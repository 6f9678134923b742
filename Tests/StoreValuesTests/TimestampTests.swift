import Foundation
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct TimestampTests {
  private static let rounds = Int(ProcessInfo.processInfo.environment["VIVARIUM_TIMESTAMP_ROUNDS"] ?? "") ?? 50_000
  /// 2²³ seconds, 97 days: from here the neighbours of a Date are further off than a nanosecond.
  private static let coarse = 0x1p23

  /// Any Double, and Doubles of all nearer magnitudes.
  private static func seconds(_ round: Int, _ random: inout SeededGenerator) -> Double {
    switch round % 5 {
    case 0: Double(bitPattern: random.next())
    case 1: Double.random(in: -64e9...253e9, using: &random)
    case 2: Double.random(in: -2e9...2e9, using: &random)
    case 3: Double.random(in: -1e7...1e7, using: &random)
    default: Double.random(in: -2...2, using: &random)
    }
  }

  @Test func aDateFarFrom2001ComesBackBitForBitAndANearerOneWithinANanosecond() {
    var random = SeededGenerator.forTest()
    for round in 0..<Self.rounds {
      let seconds = Self.seconds(round, &random)
      let time = Timestamp(Date(timeIntervalSinceReferenceDate: seconds))
      let back = time.date.timeIntervalSinceReferenceDate
      if seconds.isNaN {
        #expect(time == .nan && back.isNaN)
      } else if seconds.magnitude >= Self.coarse {
        #expect(back.bitPattern == seconds.bitPattern, "\(seconds) seed \(random.seed)")
      } else {
        #expect(abs(back - seconds) <= 1e-9, "\(seconds) seed \(random.seed)")
        // Whole seconds and the fraction are exact, each by itself.
        let whole = seconds.rounded(.towardZero)
        let error = abs((seconds - whole) * 1e9 - Double(time.word - Int64(whole) * 1_000_000_000))
        #expect(error <= 0.5 + 1e-6, "\(seconds) seed \(random.seed)")
      }
    }
  }

  @Test func aTimestampNear2001ComesBackFromItsDate() {
    var random = SeededGenerator.forTest()
    let bound = Int64(Self.coarse) * 1_000_000_000 - 1
    for _ in 0..<Self.rounds {
      let time = Timestamp(word: Int64.random(in: -bound...bound, using: &random))
      #expect(Timestamp(time.date) == time, "\(time.word) seed \(random.seed)")
    }
  }

  @Test func theOrderOfWordsIsThatOfTime() {
    var random = SeededGenerator.forTest()
    for round in 0..<Self.rounds {
      let (a, b) = (Self.seconds(round, &random), Self.seconds(round / 5, &random))
      if a.isNaN || b.isNaN { continue }
      // Rounding may bring two together, but never past each other.
      let (x, y) = (Timestamp(secondsSinceReferenceDate: min(a, b)), Timestamp(secondsSinceReferenceDate: max(a, b)))
      #expect(x <= y && Timestamp.nan < x && x >= .negativeInfinity && y <= .infinity, "\(a) \(b) seed \(random.seed)")
    }
    let ascending: [Timestamp] = [
      .nan, .negativeInfinity, Timestamp(secondsSinceReferenceDate: -.greatestFiniteMagnitude), Timestamp(.distantPast),
      Timestamp(word: -(1 << 62)), Timestamp(word: 1 - (1 << 62)), Timestamp(word: -1), .reference, Timestamp(word: 1),
      Timestamp(word: (1 << 62) - 1), Timestamp(word: 1 << 62), Timestamp(word: (1 << 62) + 1), Timestamp(.distantFuture),
      Timestamp(secondsSinceReferenceDate: .greatestFiniteMagnitude), .infinity,
    ]
    for (a, b) in zip(ascending, ascending.dropFirst()) {
      #expect(a < b && Value.date(a).order(to: .date(b)) == .before)
    }
  }

  @Test func everyDoubleFitsIn63BitsAndLeavesTheEndsFree() {
    #expect(Timestamp.infinity.word == 9_078_924_745_127_831_915 && Timestamp.negativeInfinity.word == -9_078_924_745_127_831_915)
    #expect(Timestamp(secondsSinceReferenceDate: .greatestFiniteMagnitude).word == Timestamp.infinity.word - 1)
    #expect(Timestamp.nan.word == .min + 1 && Timestamp.nan.isNaN && Timestamp.nan.date.timeIntervalSinceReferenceDate.isNaN)
    #expect(Timestamp(Date(timeIntervalSinceReferenceDate: -.nan)) == .nan && Timestamp(secondsSinceReferenceDate: -0.0).word == 0)
    for date in [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: -.infinity)] {
      #expect(Timestamp(date).date == date && !Timestamp(date).isNaN)
    }
    // Words that no time has, as another program may leave them in a file.
    #expect(Timestamp(word: .max).date.timeIntervalSinceReferenceDate == .infinity && Timestamp(word: .min).isNaN)
  }

  @Test func atTheSeamNanosecondsBecomeDoubles() {
    // The least Double that is not below 2⁶² nanoseconds, and the greatest that is.
    let behind = Double(bitPattern: 0x41F1_2E0B_E826_D695)
    let (whole, rest) = (Int128(1) << 62).quotientAndRemainder(dividingBy: 1_000_000_000)
    func nanoseconds(_ seconds: Double) -> Int128 {
      Int128(seconds.rounded(.towardZero)) * 1_000_000_000 + Int128(((seconds - seconds.rounded(.towardZero)) * 1e9).rounded(.down))
    }
    #expect(nanoseconds(behind) >= Int128(1) << 62 && nanoseconds(behind.nextDown) < Int128(1) << 62)
    for sign in [1.0, -1.0] {
      let unit = Int64(sign)
      #expect(Timestamp(secondsSinceReferenceDate: sign * behind).word == unit * (1 << 62))
      #expect(Timestamp(secondsSinceReferenceDate: sign * behind.nextUp).word == unit * (1 << 62) + unit)
      #expect(Timestamp(secondsSinceReferenceDate: sign * behind.nextDown).word.magnitude < 1 << 62)
      for number in [behind.nextDown, behind, behind.nextUp] {
        #expect(Timestamp(secondsSinceReferenceDate: sign * number).secondsSinceReferenceDate == sign * number)
      }
      // The same from whole seconds and nanoseconds: exact up to it, then never before it.
      #expect(Timestamp(secondsSinceReferenceDate: unit * Int64(whole), nanoseconds: unit * Int64(rest - 1)).word == unit * ((1 << 62) - 1))
      #expect(Timestamp(secondsSinceReferenceDate: unit * Int64(whole), nanoseconds: unit * Int64(rest)).word == unit * (1 << 62))
    }
  }

  @Test func secondsAndNanosecondsMakeTheSameTimeAgain() {
    var random = SeededGenerator.forTest()
    for round in 0..<Self.rounds {
      let time =
        round % 2 == 0 ? Timestamp(word: Int64(bitPattern: random.next())) : Timestamp(secondsSinceReferenceDate: Self.seconds(round / 2, &random))
      guard let (seconds, nanoseconds) = time.secondsAndNanoseconds else {
        #expect(time.isNaN || time.secondsSinceReferenceDate.magnitude >= 0x1p52)
        continue
      }
      #expect((0..<1_000_000_000).contains(nanoseconds))
      #expect(Timestamp(secondsSinceReferenceDate: seconds, nanoseconds: nanoseconds) == time, "\(time.word) seed \(random.seed)")
    }
    #expect(Timestamp(secondsSince1970: 978_307_200, nanoseconds: 5).word == 5 && Timestamp(secondsSince1970: 0).word == -978_307_200_000_000_000)
    #expect(Timestamp(secondsSince1970: .min) < Timestamp(.distantPast) && Timestamp(secondsSince1970: .max, nanoseconds: .max) > Timestamp(.distantFuture))
    #expect(Timestamp(secondsSince1970: 1, nanoseconds: -1) == Timestamp(secondsSince1970: 0, nanoseconds: 999_999_999))
  }

  @Test(arguments: [
    (0, "2001-01-01T00:00:00Z"), (1, "2001-01-01T00:00:00.000000001Z"), (-1, "2000-12-31T23:59:59.999999999Z"),
    (100_000_000, "2001-01-01T00:00:00.1Z"), (-250_000_000, "2000-12-31T23:59:59.75Z"), (-100_007_000_000, "2000-12-31T23:58:19.993Z"),
    (-978_307_200_000_000_000, "1970-01-01T00:00:00Z"), (99_705_599_500_000_000, "2004-02-28T23:59:59.5Z"),
    (99_705_600_000_000_000, "2004-02-29T00:00:00Z"), (99_792_000_000_000_000, "2004-03-01T00:00:00Z"),
    (-3_181_593_600_000_000_000, "1900-03-08T00:00:00Z"), (Timestamp(secondsSinceReferenceDate: -63_113_904_000.0).word, "0001-01-01T00:00:00Z"),
    (Timestamp(secondsSinceReferenceDate: 252_423_993_599.0).word, "9999-12-31T23:59:59Z"),
    (Timestamp(secondsSinceReferenceDate: -63_113_904_001.0).word, "@-63113904001.0"),
    (Timestamp(secondsSinceReferenceDate: 252_423_993_600.0).word, "@252423993600.0"), (Timestamp.infinity.word, "@inf"),
    (Timestamp.nan.word, "@nan"), (Timestamp(secondsSinceReferenceDate: 1e300).word, "@1e+300"),
  ] as [(Int64, String)])
  func theTextIsISO8601WithAllItsDigits(word: Int64, text: String) {
    #expect(Timestamp(word: word).description == text && Timestamp(text)?.word == word)
    #expect(Value.date(Timestamp(word: word)).description == text)
  }

  @Test func anyTimestampReadsBackFromItsTextAndJSON() throws {
    var random = SeededGenerator.forTest()
    for round in 0..<Self.rounds / 5 {
      let time =
        round % 2 == 0
        ? Timestamp(word: Int64.random(in: -(1 << 62)...(1 << 62), using: &random)) : Timestamp(secondsSinceReferenceDate: Self.seconds(round / 2, &random))
      #expect(Timestamp(time.description) == time, "\(time.word) seed \(random.seed)")
    }
    for time in TimestampSamples.edges {
      #expect(try JSONDecoder().decode([Timestamp].self, from: JSONEncoder().encode([time])) == [time])
    }
    #expect(try JSONDecoder().decode([Timestamp].self, from: Data("[1.5]".utf8)) == [Timestamp(word: 1_500_000_000)])
  }

  @Test func digitsBehindTheNinthAreRounded() {
    #expect(Timestamp("2001-01-01T00:00:00.0000000014Z")?.word == 1 && Timestamp("2001-01-01T00:00:00.9999999995Z")?.word == 1_000_000_000)
  }

  @Test(arguments: [
    "", "@", "2001-01-01", "2001-01-01T00:00:00", "2001-01-01T00:00:00.Z", "2001-01-01T00:00:00.xZ", "2001-13-01T00:00:00Z",
    "2001-02-29T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "0000-01-01T00:00:00Z", "2001-01-01 00:00:00Z", "+001-01-01T00:00:00Z",
    "2001-01-01T00:00:00.1234567890xZ",
  ])
  func whatIsNoTimeIsRefused(text: String) {
    #expect(Timestamp(text) == nil)
  }
}
