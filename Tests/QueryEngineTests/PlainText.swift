import Foundation
import QueryModel
import StoreValues

/// What operators of text mean, written as plainly as it can be.
enum PlainText {
  /// Without the differences that do not count.
  static func folded(_ text: String, _ folding: Folding?) -> String {
    guard let folding else { return text }
    var scalars = String.UnicodeScalarView(text.unicodeScalars)
    if folding.ignoresDiacritics {
      let all = text.decomposedStringWithCanonicalMapping.unicodeScalars
      scalars = String.UnicodeScalarView(all.filter { $0.properties.generalCategory != .nonspacingMark })
    }
    if folding.ignoresCase {
      // Of the texts that tests use, no small letter has more than one scalar.
      scalars = String.UnicodeScalarView(scalars.flatMap { $0.properties.lowercaseMapping.unicodeScalars })
    }
    return String(scalars)
  }

  static func like(_ text: String, _ pattern: String) -> Bool {
    like(Array(text.unicodeScalars)[...], Array(pattern.unicodeScalars)[...])
  }

  private static func like(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "*" { return (text.startIndex...text.endIndex).contains { like(text[$0...], pattern.dropFirst()) } }
    guard let next = text.first else { return false }
    return (first == "?" || first == next) && like(text.dropFirst(), pattern.dropFirst())
  }

  /// Regular expressions, and what they say of a whole text. Without capitals, so that folding leaves them as they are.
  private static let expressions: [(pattern: String, matches: @Sendable ([Unicode.Scalar]) -> Bool)] = [
    ("a*", { $0.allSatisfy { $0 == "a" } }), ("[ab]+", { !$0.isEmpty && $0.allSatisfy { $0 == "a" || $0 == "b" } }),
    ("a?b", { $0 == ["b"] || $0 == ["a", "b"] }), ("(a|b|x)*", { $0.allSatisfy { $0 == "a" || $0 == "b" || $0 == "x" } }),
    (".", { $0.count == 1 }), (".*a", { $0.last == "a" }), ("[^a].*", { !$0.isEmpty && $0[0] != "a" }),
    ("a{2}|b", { $0 == ["a", "a"] || $0 == ["b"] }),
  ]

  static let patterns = expressions.map(\.pattern)

  /// What random conditions look for, and one text's words against it.
  static let sought = [
    "a", "A*", "ab", "a b", "a -b", "-a b", "two wor*", "two -words", "á*", "日", "日日", "x -日", "long A*", "b* -x*", "Words ENOUGH*", "aba -a*",
  ]

  private static func words(_ text: String) -> [String] {
    let scalars = folded(text, .caseAndDiacriticInsensitive).unicodeScalars.map { $0.properties.isAlphabetic ? Character($0) : " " }
    // A sign of its own among spaces for where one writing ends and the other begins.
    var parted = ""
    for (i, character) in scalars.enumerated() {
      if i > 0, (character == "日") != (scalars[i - 1] == "日") { parted.append(" ") }
      parted.append(character)
    }
    return parted.split(separator: " ").map(String.init)
  }

  private static func has(_ words: [String], _ sought: String) -> Bool {
    let part = folded(String(sought.filter { $0 != "*" }), .caseAndDiacriticInsensitive)
    if part.contains("日") { return words.contains { $0.contains(part) } }
    return words.contains { sought.hasSuffix("*") ? $0.hasPrefix(part) : $0 == part }
  }

  static func hasWords(_ text: String, _ sought: String) -> Bool {
    let words = words(text)
    return sought.split(separator: " ").allSatisfy { $0.hasPrefix("-") ? !has(words, String($0.dropFirst())) : has(words, String($0)) }
  }

  /// One text against another; nil for operators that are not of text alone.
  static func holds(_ a: String, _ comparator: ComparisonOperator, _ b: String, _ folding: Folding?) -> Bool {
    if comparator == .matches {
      return expressions.first { $0.pattern == b }?.matches(Array(folded(a, folding).unicodeScalars)) ?? false
    }
    if comparator == .text { return hasWords(a, b) }
    let (a, b) = (folded(a, folding), folded(b, folding))
    if comparator == .like { return like(a, b) }
    let (x, y) = (Array(a.utf8), Array(b.utf8))
    switch comparator {
    case .equal, .in: return x == y
    case .notEqual: return x != y
    case .less: return x.lexicographicallyPrecedes(y)
    case .greater: return y.lexicographicallyPrecedes(x)
    case .lessOrEqual: return !y.lexicographicallyPrecedes(x)
    case .greaterOrEqual: return !x.lexicographicallyPrecedes(y)
    case .beginsWith: return x.starts(with: y)
    case .endsWith: return x.reversed().starts(with: y.reversed())
    case .contains: return y.isEmpty || x.indices.contains { x[$0...].starts(with: y) }
    case .like, .matches, .text, .between: return false
    }
  }
}

/// What computing means, written as plainly as it can be.
enum PlainArithmetic {
  static func result(_ sign: ArithmeticOperator, _ a: Value, _ b: Value) -> Value {
    switch (a, b) {
    case (.int(let x), .int(let y)):
      switch sign {
      case .add: return .int(x &+ y)
      case .subtract: return .int(x &- y)
      case .multiply: return .int(x &* y)
      case .divide: return y == 0 ? .int(x < 0 ? .min : .max) : y == -1 ? .int(0 &- x) : .int(x / y)
      case .power: return power(x, y)
      }
    case (.decimal, _), (_, .decimal):
      guard let x = decimal(a), let y = decimal(b) else { return .null }
      switch sign {
      case .add: return .decimal(x + y)
      case .subtract: return .decimal(x - y)
      case .multiply: return .decimal(x * y)
      case .divide: return .decimal(x / y)
      case .power: return .double(pow(Double(x), Double(y)))
      }
    default:
      guard let x = double(a), let y = double(b) else { return .null }
      switch sign {
      case .add: return .double(x + y)
      case .subtract: return .double(x - y)
      case .multiply: return .double(x * y)
      case .divide: return .double(x / y)
      case .power: return .double(pow(x, y))
      }
    }
  }

  private static func power(_ x: Int64, _ y: Int64) -> Value {
    let real = pow(Double(x), Double(y))
    if y < 0 || y > 63 { return .double(real) }
    var (exact, isOver) = (Int64(1), false)
    for _ in 0..<y {
      let next = exact.multipliedReportingOverflow(by: x)
      isOver = isOver || next.overflow
      exact = next.partialValue
    }
    return isOver ? .double(real) : .int(exact)
  }

  private static func double(_ value: Value) -> Double? {
    switch value {
    case .int(let x): Double(x)
    case .double(let x): x
    default: nil
    }
  }

  private static func decimal(_ value: Value) -> Decimal128? {
    switch value {
    case .decimal(let x): x
    case .int(let x): Decimal128(x)
    case .double(let x): Decimal128(x.description)
    default: nil
    }
  }
}
