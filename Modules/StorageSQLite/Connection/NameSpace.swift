/// Gives out names that SQLite can hold and tell apart, as close to the wanted ones as it gets.
///
/// SQLite compares names without regard to ASCII case, keeps some for itself, and ends them at NUL. Names are given
/// in the order of asking, so the same questions get the same answers.
package struct NameSpace {
  /// Folded, ascending. No set: the first one of strings costs a process that opens a store more than all names.
  private var taken: [String] = []
  private let reservedPrefixes: [String]

  /// - Parameters:
  ///   - taken: names that are spoken for.
  ///   - reservedPrefixes: in lower case; no name may begin so.
  package init(taken: [String] = [], reservedPrefixes: [String] = []) {
    self.reservedPrefixes = reservedPrefixes
    for name in taken { _ = take(NameSpace.folded(name)) }
  }

  /// The tables, indexes and triggers of a file: one name space for all.
  package static let file = NameSpace(reservedPrefixes: ["sqlite_", "_vivarium"])
  /// The columns of a table with objects.
  package static let columns = NameSpace(taken: ["_key"])

  /// The name itself where it can be had, else one with `number` after it.
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

  /// Takes a folded name; false when it is taken. O(log n) comparisons.
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

  /// As SQLite compares: A to Z alone.
  private static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension String {
  /// As an SQL name, whatever is in it.
  var quoted: String { "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" }
}
