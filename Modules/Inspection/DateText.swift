#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Dates as ISO 8601 in UTC with as many digits as they have: `2026-11-21T07:35:41.123456Z`.
///
/// A stored date is a Double of seconds from 2001-01-01. The text is that number's shortest decimal moved to the
/// calendar digit by digit, and `date(from:)` moves it back, so the same bits return (of NaN: a NaN). Foundation's formatters
/// round to milliseconds. What the form cannot say (before the year 1, after 9999, NaN, the infinities, −0.0,
/// fractions below 10⁻²⁰) is `@` and the number.
package enum DateText {
  private static let daysTo2001 = 730_485  // from 0001-01-01

  package static func text(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    let plain = seconds.isNaN ? "@nan" : "@\(seconds)"
    guard seconds.isFinite, !(seconds == 0 && seconds.sign == .minus), abs(seconds) < 0x1p48,
      var (whole, fraction) = decimal(of: abs(seconds))
    else { return plain }
    if seconds < 0 {
      whole = -whole
      if !fraction.isEmpty {
        whole -= 1
        fraction = complement(fraction)
      }
    }
    let day = Int(whole.floorDivided(by: 86_400))
    guard let (year, month, dayOfMonth) = civil(day + daysTo2001) else { return plain }
    let second = Int(whole) - day * 86_400
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    let point = fraction.isEmpty ? "" : "." + String(decoding: fraction, as: UTF8.self)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T\(time)\(point)Z"
  }

  /// The date of a text that `text` made; nil for any other form.
  package static func date(from text: String) -> Date? {
    if text.hasPrefix("@") { return Double(text.dropFirst()).map { Date(timeIntervalSinceReferenceDate: $0) } }
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].allSatisfy(isDigit) ? Int(String(decoding: bytes[range], as: UTF8.self)) : nil
    }
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"),
      [4, 7, 10, 13, 16].map({ bytes[$0] }) == Array("--T::".utf8),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let days = daysFromCivil(year, month, day),
      let hour = number(11..<13), hour < 24, let minute = number(14..<16), minute < 60,
      let second = number(17..<19), second < 60
    else { return nil }
    var fraction = Array(bytes[19..<bytes.count - 1])
    if !fraction.isEmpty {
      guard fraction.count > 1, fraction.removeFirst() == UInt8(ascii: "."), fraction.allSatisfy(isDigit) else { return nil }
    }
    var whole = (days - daysTo2001) * 86_400 + hour * 3600 + minute * 60 + second
    let isNegative = whole < 0
    if isNegative, !fraction.isEmpty {
      whole += 1
      fraction = complement(fraction)
    }
    let decimal = "\(isNegative ? "-" : "")\(abs(whole)).\(String(decoding: fraction, as: UTF8.self))0"
    return Double(decimal).map { Date(timeIntervalSinceReferenceDate: $0) }
  }
}

extension DateText {
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// The whole part and the digits after the point, without trailing zeroes, of the shortest decimal that reads
  /// as `number`, which is not negative. nil when it is far too small for digits.
  private static func decimal(of number: Double) -> (Int64, [UInt8])? {
    let text = number.description
    let parts = text.split(separator: "e")
    let mantissa = parts[0].split(separator: ".")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    guard exponent <= 0, exponent >= -20 else { return nil }
    var digits = mantissa.count > 1 ? Array(mantissa[1].utf8) : []
    var whole = Array(mantissa[0].utf8)
    for _ in 0..<(-exponent) {
      digits.insert(whole.popLast() ?? UInt8(ascii: "0"), at: 0)
    }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return (Int64(String(decoding: whole, as: UTF8.self)) ?? 0, digits)
  }

  /// 1 − 0.digits, as digits; `digits` is not all zeroes.
  private static func complement(_ digits: [UInt8]) -> [UInt8] {
    var result = digits
    var position = result.count - 1
    while position >= 0, result[position] == UInt8(ascii: "0") { position -= 1 }
    guard position >= 0 else { return result }
    result[position] = UInt8(ascii: "0") + 10 - (result[position] - UInt8(ascii: "0"))
    for before in 0..<position { result[before] = UInt8(ascii: "0") + 9 - (result[before] - UInt8(ascii: "0")) }
    return result
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func monthLengths(_ year: Int) -> [Int] { [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] }

  private static func daysBefore(_ year: Int) -> Int {
    let past = year - 1
    return past * 365 + past / 4 - past / 100 + past / 400
  }

  /// The date so many days after 0001-01-01 in the Gregorian calendar; nil outside the years 1 to 9999.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int)? {
    guard days >= 0, days < daysBefore(10_000) else { return nil }
    var year = days / 366 + 1
    while daysBefore(year + 1) <= days { year += 1 }
    var rest = days - daysBefore(year)
    for (month, length) in monthLengths(year).enumerated() {
      if rest < length { return (year, month + 1, rest + 1) }
      rest -= length
    }
    return nil
  }

  private static func daysFromCivil(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    guard year >= 1, (1...12).contains(month), day >= 1, day <= monthLengths(year)[month - 1] else { return nil }
    return daysBefore(year) + monthLengths(year)[..<(month - 1)].reduce(0, +) + day - 1
  }
}

extension Int64 {
  fileprivate func floorDivided(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
