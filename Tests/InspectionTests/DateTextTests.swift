import Foundation
import Inspection
import TestSupport
import Testing

@Suite struct DateTextTests {
  @Test(arguments: [
    (0, "2001-01-01T00:00:00Z"),
    (0.1, "2001-01-01T00:00:00.1Z"),
    (-0.1, "2000-12-31T23:59:59.9Z"),
    (-0.25, "2000-12-31T23:59:59.75Z"),
    (-1, "2000-12-31T23:59:59Z"),
    (-100.007, "2000-12-31T23:58:19.993Z"),
    (1e-7, "2001-01-01T00:00:00.0000001Z"),
    (1.5e-6, "2001-01-01T00:00:00.0000015Z"),
    (-978_307_200, "1970-01-01T00:00:00Z"),
    (98_496_000, "2004-02-15T00:00:00Z"),
    (99_705_599.5, "2004-02-28T23:59:59.5Z"),
    (99_705_600, "2004-02-29T00:00:00Z"),
    (99_792_000, "2004-03-01T00:00:00Z"),
    (-3_181_593_600, "1900-03-08T00:00:00Z"),
    (-63_113_904_000, "0001-01-01T00:00:00Z"),
    (252_423_993_599, "9999-12-31T23:59:59Z"),
    (-63_113_904_001, "@-63113904001.0"),
    (252_423_993_600, "@252423993600.0"),
    (.infinity, "@inf"),
    (-0.0, "@-0.0"),
    (1e300, "@1e+300"),
    (Double.leastNonzeroMagnitude, "@5e-324"),
  ])
  func aDateIsISO8601WithAllItsDigits(seconds: Double, text: String) {
    #expect(DateText.text(Date(timeIntervalSinceReferenceDate: seconds)) == text)
    let back = DateText.date(from: text)?.timeIntervalSinceReferenceDate
    #expect(back?.bitPattern == seconds.bitPattern)
  }

  @Test func anyDateReadsBackBitForBit() {
    var random = SeededGenerator.forTest()
    for round in 0..<20_000 {
      let seconds =
        switch round % 4 {
        case 0: Double(bitPattern: random.next())
        case 1: Double.random(in: -64e9...253e9, using: &random)
        case 2: Double.random(in: -2...2, using: &random)
        default: (Double.random(in: -1e9...1e9, using: &random) * 1000).rounded() / 1000
        }
      let text = DateText.text(Date(timeIntervalSinceReferenceDate: seconds))
      let back = DateText.date(from: text)?.timeIntervalSinceReferenceDate
      #expect(back?.bitPattern == seconds.bitPattern || (seconds.isNaN && back?.isNaN == true), "\(seconds) is \(text)")
    }
  }

  @Test(arguments: [
    "", "@", "2001-01-01", "2001-01-01T00:00:00", "2001-01-01T00:00:00.Z", "2001-01-01T00:00:00.xZ", "2001-13-01T00:00:00Z",
    "2001-02-29T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "0000-01-01T00:00:00Z", "2001-01-01 00:00:00Z", "+001-01-01T00:00:00Z",
  ])
  func whatIsNoDateIsRefused(text: String) {
    #expect(DateText.date(from: text) == nil)
  }
}
