/// Assigns names that SQLite accepts and distinguishes, as close as possible to the wanted ones.
///
/// SQLite compares names without regard to ASCII case, reserves some, and ends them at NUL. Names are assigned in the order of
/// calls, so the same calls give the same names.
package struct NameSpace {
  /// Folded, ascending. Not a set: the first set of strings costs a process that opens a store more than all the names.
  private var taken: [String] = []
  private let reservedPrefixes: [String]

  /// - Parameters:
  /// - taken: names already in use.
  /// - reservedPrefixes: in lower case; no name may begin with one.
  package init(taken: [String] = [], reservedPrefixes: [String] = []) {
    self.reservedPrefixes = reservedPrefixes
    for name in taken { _ = take(NameSpace.folded(name)) }
  }

  /// The tables, indexes and triggers of a file, which share one name space.
  package static let file = NameSpace(reservedPrefixes: ["sqlite_", "_vivarium"])
  /// The columns of a table with objects.
  package static let columns = NameSpace(taken: ["_key"])

  /// The wanted name if it is free, else one with `number` appended.
  package mutating func name(_ wanted: String, number: UInt16) -> String {
    var name = String(wanted.map { $0 == "\0" ? "\u{2400}" : $0 })
    let folded = NameSpace.folded(name)
    if reservedPrefixes.contains(where: folded.hasPrefix) || name.isEmpty { name = "type \(name)" }
    var candidate = name
    var count = 0
    while !take(NameSpace.folded(candidate)) {
      candidate = count == 0 ? "\(name)_\(number)" : "\(name)_\(number)_\(count)"
      count += 1
    }
    return candidate
  }

  /// Takes a folded name; false if it is in use. O(log n) comparisons.
  private mutating func take(_ name: String) -> Bool {
    var (low, high) = (0, taken.count)
    while low < high {
      let middle = (low + high) / 2
      if taken[middle] < name { low = middle + 1 } else { high = middle }
    }
    if low < taken.count, taken[low] == name { return false }
    taken.insert(name, at: low)
    return true
  }

  /// Folds case as SQLite does: only A to Z.
  private static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension String {
  /// A quoted SQL identifier, whatever the string contains.
  var quoted: String { "\"" + doubling("\"") + "\"" }

  /// The string with each quote twice, as SQL has it within quotes. A quote is one to SQLite whatever stands beside it, and to Swift it
  /// is another character with a mark that combines with it.
  func doubling(_ quote: Unicode.Scalar) -> String {
    var doubled = UnicodeScalarView()
    for scalar in unicodeScalars {
      doubled.append(scalar)
      if scalar == quote { doubled.append(quote) }
    }
    return String(doubled)
  }
}
