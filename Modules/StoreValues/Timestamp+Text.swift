/// The ISO 8601 form in UTC with as many digits as needed: `2026-11-21T07:35:41.123456789Z`.
///
/// Times outside that form (before the year 1, after 9999, NaN, the infinities) are `@` and the seconds since 2001-01-01. The
/// text is exact: parsing gives the identical time.
extension Timestamp: LosslessStringConvertible {
  private static let daysTo2001: Int64 = 730_485  // from 0001-01-01

  public var description: String {
    guard let (seconds, nanoseconds) = secondsAndNanoseconds else {
      return isNaN ? "@nan" : "@\(secondsSinceReferenceDate)"
    }
    let day = seconds.floorDivided(by: 86_400)
    guard let (year, month, dayOfMonth) = Timestamp.civil(day + Timestamp.daysTo2001) else { return "@\(secondsSinceReferenceDate)" }
    let second = seconds - day * 86_400
    let time = [second / 3600, second / 60 % 60, second % 60].map { Timestamp.padded($0, 2) }.joined(separator: ":")
    var fraction = nanoseconds == 0 ? "" : "." + Timestamp.padded(nanoseconds, 9)
    while fraction.utf8.last == UInt8(ascii: "0") { fraction.removeLast() }
    return "\(Timestamp.padded(year, 4))-\(Timestamp.padded(month, 2))-\(Timestamp.padded(dayOfMonth, 2))T\(time)\(fraction)Z"
  }

  /// Parses that form; nil for any other text. Digits after the ninth are rounded.
  public init?(_ text: String) {
    if text.hasPrefix("@") {
      guard let seconds = Double(text.dropFirst()) else { return nil }
      self.init(secondsSinceReferenceDate: seconds)
      return
    }
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"),
      [4, 7, 10, 13, 16].map({ bytes[$0] }) == Array("--T::".utf8),
      let year = Timestamp.number(bytes[0..<4]), let month = Timestamp.number(bytes[5..<7]), let day = Timestamp.number(bytes[8..<10]),
      let days = Timestamp.daysFromCivil(year, month, day),
      let hour = Timestamp.number(bytes[11..<13]), hour < 24, let minute = Timestamp.number(bytes[14..<16]), minute < 60,
      let second = Timestamp.number(bytes[17..<19]), second < 60
    else { return nil }
    let fraction = bytes[19..<bytes.count - 1]
    guard fraction.isEmpty || fraction.first == UInt8(ascii: ".") && fraction.count > 1,
      var nanoseconds = Timestamp.number((fraction.dropFirst() + Array(repeating: UInt8(ascii: "0"), count: 9)).prefix(9))
    else { return nil }
    let beyond = fraction.dropFirst(10)
    guard beyond.allSatisfy(Timestamp.isDigit) else { return nil }
    if let next = beyond.first, next >= UInt8(ascii: "5") { nanoseconds += 1 }
    let seconds = (days - Timestamp.daysTo2001) * 86_400 + hour * 3600 + minute * 60 + second
    self.init(secondsSinceReferenceDate: seconds, nanoseconds: nanoseconds)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// A number of few digits; nil if it is invalid.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    digits.allSatisfy(isDigit) ? Int64(String(decoding: digits, as: UTF8.self)) : nil
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

extension Timestamp {
  private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func monthLengths(_ year: Int64) -> [Int64] { [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] }

  private static func daysBefore(_ year: Int64) -> Int64 {
    let past = year - 1
    return past * 365 + past / 4 - past / 100 + past / 400
  }

  /// The date `days` after 0001-01-01 in the Gregorian calendar; nil outside the years 1 to 9999.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64)? {
    guard days >= 0, days < daysBefore(10_000) else { return nil }
    var year = days / 366 + 1
    while daysBefore(year + 1) <= days { year += 1 }
    var rest = days - daysBefore(year)
    for (month, length) in monthLengths(year).enumerated() {
      if rest < length { return (year, Int64(month) + 1, rest + 1) }
      rest -= length
    }
    return nil
  }

  private static func daysFromCivil(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
    guard year >= 1, (1...12).contains(month), day >= 1, day <= monthLengths(year)[Int(month) - 1] else { return nil }
    return daysBefore(year) + monthLengths(year)[..<(Int(month) - 1)].reduce(0, +) + day - 1
  }
}

extension Int64 {
  fileprivate func floorDivided(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
