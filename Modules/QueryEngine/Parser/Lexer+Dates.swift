import StoreValues

extension Lexer {
  /// `T<seconds>:<nanoseconds>` since 1970; nil for a name.
  mutating func timestamp() throws(QueryError) -> Token.Kind? {
    let start = offset
    guard peek() == UInt8(ascii: "T"), Lexer.isDigit(peek(1)) || (Lexer.isSign(peek(1)) && Lexer.isDigit(peek(2))) else {
      return nil
    }
    offset += 1
    guard let seconds = integer(), peek() == UInt8(ascii: ":") else {
      // `T1` alone is a name.
      if Lexer.isDigit(bytes[start + 1]) {
        offset = start
        return nil
      }
      throw fault("A point in time is written T<seconds>:<nanoseconds>.", at: start)
    }
    offset += 1
    guard let nanoseconds = integer() else { throw fault("The nanoseconds are missing.", at: start) }
    if (seconds < 0 && nanoseconds > 0) || (seconds > 0 && nanoseconds < 0) {
      throw fault("Seconds and nanoseconds must have the same sign.", at: start)
    }
    return .constant(.date(Timestamp(secondsSince1970: seconds, nanoseconds: nanoseconds)))
  }

  /// The rest of a date after the year: `2020-09-13@12:26:40:500`, or with `T`; nil if it is no date.
  mutating func date(_ start: Int) throws(QueryError) -> Token.Kind? {
    let afterYear = offset
    guard let year = Int64(text(start..<offset)), let month = dashed(), let day = dashed() else {
      offset = afterYear
      return nil
    }
    let wrong = fault("A date is written 2020-09-13@12:26:40, in UTC.", at: start)
    guard peek() == UInt8(ascii: "@") || peek() == UInt8(ascii: "T") else { throw wrong }
    var parts: [Int64] = []
    repeat {
      offset += 1
      let digits = offset
      skipDigits()
      guard offset > digits, let part = Int64(text(digits..<offset)) else { throw wrong }
      parts.append(part)
    } while peek() == UInt8(ascii: ":")
    guard parts.count == 3 || parts.count == 4, (1...12).contains(month), (1...31).contains(day), year <= 999_999,
      parts[0] < 25, parts[1] < 60, parts[2] < 61
    else { throw wrong }
    let days = Lexer.days(year, month, day)
    let seconds = days * 86_400 + parts[0] * 3600 + parts[1] * 60 + parts[2]
    let nanoseconds = parts.count == 4 ? parts[3] : 0
    guard nanoseconds < 1_000_000_000 else { throw wrong }
    // Away from 1970, as in Realm's texts and in `T<seconds>:<nanoseconds>`, where both have one sign: recorded conditions mean that.
    return .constant(.date(Timestamp(secondsSince1970: seconds, nanoseconds: seconds < 0 ? -nanoseconds : nanoseconds)))
  }

  private mutating func dashed() -> Int64? {
    guard peek() == UInt8(ascii: "-"), Lexer.isDigit(peek(1)) else { return nil }
    offset += 1
    let start = offset
    skipDigits()
    return Int64(text(start..<offset))
  }

  private mutating func integer() -> Int64? {
    let start = offset
    if Lexer.isSign(peek()) { offset += 1 }
    guard Lexer.isDigit(peek()) else { return nil }
    skipDigits()
    return Int64(text(start..<offset))
  }

  private static func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }

  /// Days from 1970-01-01 in the Gregorian calendar.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
