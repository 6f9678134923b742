import Foundation
import StoreValues
import Testing
import VivariumTestSupport

struct Decimal128Tests {
  private func decimal(_ text: String) throws -> Decimal128 { try #require(Decimal128(text)) }

  @Test(arguments: [
    "0", "-0", "1", "-1.5", "1.50", "0.000001", "1E-7", "1E+3", "1.234E+12", "0E+3", "-0E-7", "NaN", "Infinity", "-Infinity",
    "9.999999999999999999999999999999999E+6144", "1E-6176", "1234567890123456789012345678901234", "0.00", "1.0E-6175",
  ]) func aTextReadsAndPrintsTheSame(_ text: String) throws {
    #expect(try decimal(text).description == text)
  }

  @Test(arguments: ["", "-", ".", "1e", "1e+", "1.2.3", "0x10", " 1", "1 ", "e5", "--1", "nano", "١"])
  func whatIsNoNumberIsRefused(_ text: String) { #expect(Decimal128(text) == nil) }

  @Test(arguments: [
    ("0.1", "0.2", "0.3"), ("1.50", "1", "2.50"), ("1E+3", "1", "1001"), ("-1", "1", "0"), ("-0", "-0", "-0"), ("0", "-0", "0"),
    ("9999999999999999999999999999999999", "1", "1.000000000000000000000000000000000E+34"),
    ("9999999999999999999999999999999999", "0.5", "1.000000000000000000000000000000000E+34"),
    ("9999999999999999999999999999999998", "0.5", "9999999999999999999999999999999998"),
    ("1E+100", "1E-100", "1.000000000000000000000000000000000E+100"),
    ("1E+100", "-1E-100", "1.000000000000000000000000000000000E+100"),
    ("1E+40", "-1E+3", "1.000000000000000000000000000000000E+40"), ("1E+37", "1", "1.000000000000000000000000000000000E+37"),
    ("1E+50", "0", "1.000000000000000000000000000000000E+50"),
    ("9.999999999999999999999999999999999E+6144", "1E+6111", "Infinity"), ("Infinity", "-Infinity", "NaN"), ("NaN", "1", "NaN"),
  ]) func aSumIsExactAndRoundedOnce(_ a: String, _ b: String, _ sum: String) throws {
    #expect(try (decimal(a) + decimal(b)).description == sum)
    #expect(try (decimal(b) + decimal(a)).description == sum)
  }

  @Test(arguments: [
    ("1.5", "2", "3.0"), ("-1.5", "2.00", "-3.000"), ("0", "-3", "-0"), ("1E+6000", "1E+6000", "Infinity"), ("Infinity", "0", "NaN"),
    ("9999999999999999999999999999999999", "9999999999999999999999999999999999", "9.999999999999999999999999999999998E+67"),
    ("1E-3000", "1E-3176", "1E-6176"), ("5E-3000", "1E-3177", "0E-6176"), ("5.1E-3000", "1E-3177", "1E-6176"), ("1E-6000", "-1E-6000", "-0E-6176"),
  ]) func aProductIsExactAndRoundedOnce(_ a: String, _ b: String, _ product: String) throws {
    #expect(try (decimal(a) * decimal(b)).description == product)
    #expect(try (decimal(b) * decimal(a)).description == product)
  }

  @Test(arguments: [
    ("1", "3", "0.3333333333333333333333333333333333"), ("2", "3", "0.6666666666666666666666666666666667"), ("10", "4", "2.5"), ("6", "2", "3"),
    ("1E+3", "1E+1", "1E+2"), ("1", "0", "Infinity"), ("-1", "0", "-Infinity"), ("0", "0", "NaN"), ("0", "7", "0"), ("1", "Infinity", "0E-6176"),
    ("1.00", "0.1", "10.0"),
  ]) func aQuotientIsExactAndRoundedOnce(_ a: String, _ b: String, _ quotient: String) throws {
    #expect(try (decimal(a) / decimal(b)).description == quotient)
  }

  @Test func equalIsByValueAndIdenticalByDigits() throws {
    #expect(try decimal("1.5") == decimal("1.50"))
    #expect(try decimal("1.5").hashValue == decimal("1.50").hashValue)
    #expect(try !decimal("1.5").isIdentical(to: decimal("1.50")))
    #expect(try decimal("-0") == decimal("0E+5"))
    #expect(Decimal128.nan != Decimal128.nan)
    #expect(Decimal128.nan.isIdentical(to: .nan))
    #expect(try !(decimal("NaN") < decimal("1")) && !(decimal("1") < decimal("NaN")))
  }

  @Test func theTotalOrderHasNaNFirst() throws {
    let ascending = [
      "NaN", "-Infinity", "-9.999999999999999999999999999999999E+6144", "-1E+3", "-1", "-1E-6176", "0", "1E-6176", "0.1", "1",
      "1.000000000000000000000000000000001", "10", "1E+20", "1E+6144", "Infinity",
    ]
    for (i, a) in ascending.enumerated() {
      for (j, b) in ascending.enumerated() {
        #expect(try decimal(a).order(to: decimal(b)) == (i < j ? .before : i > j ? .after : .same), "\(a) \(b)")
      }
    }
  }

  @Test func doublesAreComparedExactly() throws {
    #expect(try decimal("0.1").order(to: 0.1) == .before)  // the double is 0.1000000000000000055…
    #expect(try decimal("0.5").order(to: 0.5) == .same)
    #expect(try decimal("9007199254740993").order(to: 0x1p53) == .after)
    #expect(try decimal("1E-400").order(to: Double.leastNonzeroMagnitude) == .before)
    #expect(try decimal("4.940656458412465441765687928682213E-324").order(to: Double.leastNonzeroMagnitude) == .before)
    #expect(try decimal("4.940656458412465441765687928682214E-324").order(to: Double.leastNonzeroMagnitude) == .after)
    #expect(try decimal("1E+400").order(to: Double.greatestFiniteMagnitude) == .after)
    #expect(try decimal("1E+400").order(to: Double.infinity) == .before)
    #expect(try decimal("-Infinity").order(to: -Double.infinity) == .same)
    #expect(Decimal128.nan.order(to: Double.nan) == .same)
    #expect(Value.decimal(try decimal("2.5")).order(to: .float(2.5)) == .same)
    #expect(Value.decimal(try decimal("9223372036854775808")).order(to: .int(.max)) == .after)
  }

  @Test func numbersConvertByTheirExactValue() throws {
    let (tenth, zero) = (0.1, -0.0)
    #expect(Decimal128(tenth).description == "0.1000000000000000055511151231257827")
    #expect(Decimal128(zero).description == "-0")
    #expect(Decimal128(Double.greatestFiniteMagnitude).description == "1.797693134862315708145274237317044E+308")
    #expect(Decimal128(Double.leastNonzeroMagnitude).description == "4.940656458412465441765687928682214E-324")
    #expect(Decimal128(Int64.min).description == "-9223372036854775808")
    #expect(Double(try decimal("1E+400")) == .infinity)
    #expect(Double(try decimal("0.1")) == 0.1)
    #expect(Int64(exactly: try decimal("-9223372036854775808")) == .min)
    #expect(Int64(exactly: try decimal("9223372036854775808")) == nil)
    #expect(Int64(exactly: try decimal("1E+3")) == 1_000)
    #expect(Int64(exactly: try decimal("1.5")) == nil)
  }

  @Test func everyEncodingIsReadAndCanonical() throws {
    for text in ["1.50", "-1E+6111", "0E-6176", "NaN", "-Infinity"] {
      let number = try decimal(text)
      #expect(Decimal128(high: number.high, low: number.low).isIdentical(to: number))
    }
    #expect(Decimal128(high: 0xFE00_0000_0000_0007, low: 3).isIdentical(to: .nan))  // a signalling NaN with a payload
    #expect(Decimal128(high: 0x6C10_0000_0000_0000, low: 1).isZero)  // a coefficient that is too large
  }
}

extension Decimal128Tests {
  @Test func literalsAreWhatIsWritten() {
    let price: Decimal128 = 9.99
    #expect(price.description == "9.99" && Decimal128(0.1).description == "0.1" && (-0.5 as Decimal128).description == "-0.5")
    #expect((1E+30 as Decimal128).description == "1E+30" && (3 as Decimal128).description == "3")
  }

  @Test func foundationsDecimalsConvertBothWays() throws {
    for text in ["0", "1", "-1.5", "9.99", "0.1", "1234567890123456789012345678901234", "-1E-100", "7E+100"] {
      let number = try #require(Decimal128(text))
      let other = try #require(Decimal(exactly: number))
      #expect(other == Decimal(string: text) && Decimal128(other) == number, "\(text)")
    }
    #expect(Decimal128(Decimal.nan).isNaN && Decimal(exactly: .nan)?.isNaN == true)
    #expect(Decimal(exactly: .infinity) == nil && Decimal(exactly: .greatestFiniteMagnitude) == nil)
    #expect(Decimal(exactly: .leastNonzeroMagnitude) == nil)
    // Foundation has four digits more.
    let long = try #require(Decimal(string: "12345678901234567890123456789012345678"))
    #expect(Decimal128(long).description == "1.234567890123456789012345678901235E+37")
    #expect(Decimal(exactly: try #require(Decimal128("1E+128"))) == Decimal(string: "1E+127").map { $0 * 10 })
    var generator = SeededGenerator.forTest()
    for _ in 0..<500 {
      let scale = try #require(Decimal128("1E\(Int.random(in: 0..<60, using: &generator))"))
      let number = Decimal128(Int64.random(in: .min ... .max, using: &generator)) / scale
      #expect(Decimal128(try #require(Decimal(exactly: number))) == number)
    }
  }
}
