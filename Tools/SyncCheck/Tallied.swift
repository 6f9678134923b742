#if Sync
/// How a device's tally is shown, "tally x: 3 [1, 2, 3]".
struct Tallied {
  let name: String
  /// As it was counted.
  private(set) var count = 0
  /// As they were written.
  private(set) var entries: [Int] = []

  /// - Parameter lines: what some device shows.
  init(_ name: String, in lines: [String]) {
    self.name = name
    guard let line = lines.first(where: { $0.hasPrefix("tally \(name):") }) else { return }
    guard let colon = line.firstIndex(of: ":"), let bracket = line.firstIndex(of: "[") else { return }
    count = Int(line[line.index(after: colon)..<bracket].filter(\.isNumber)) ?? -1
    entries = line[line.index(after: bracket)...].dropLast().split(separator: ",").compactMap { Int($0.filter(\.isNumber)) }
  }

  /// What is wrong with it.
  ///
  /// - Parameter written: so many writes had returned.
  func faults(atLeast written: Int) -> [String] {
    var faults: [String] = []
    if entries != Array(1...max(1, entries.count)) && !entries.isEmpty { faults.append("\(name): its entries are \(entries)") }
    if count != entries.count { faults.append("\(name): counted \(count), wrote \(entries.count)") }
    if entries.count < written { faults.append("\(name): \(written) writes had returned, \(entries.count) are there") }
    return faults
  }
}
#endif
