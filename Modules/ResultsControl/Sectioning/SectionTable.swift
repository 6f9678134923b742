import StoreValues

/// The sections of an ordered list of rows, in order, with the number of rows of each.
///
/// A section is a run of rows with one key. The order should keep rows of one key adjacent; where it does not, a row between two
/// rows of one section belongs to that section, so a section is never split. The table knows no objects: rows are positions, and it
/// asks for the keys of changed rows.
struct SectionTable {
  struct Entry: Weighted {
    var key: Value
    var weight: Int
    /// Whether the section stays when it has no rows.
    var isStatic = false
  }

  private(set) var entries: WeightedList<Entry>
  /// Whether one key precedes another in the order of the rows; nil if this is unknown.
  private let precedes: (@Sendable (Value, Value) -> Bool)?
  /// Whether the static sections were declared in that order.
  private let keepsOrder: Bool

  var count: Int { entries.count }
  var rowCount: Int { entries.weight }

  /// Sections for `count` rows. If the order is known to follow the keys (`precedes`), reads the keys of only about log₂ rows of
  /// each section; otherwise of every row.
  ///
  /// - Parameter keep: keys of the sections that stay when they are empty, in the order of the rows.
  init(
    count: Int, keep: [Value] = [], precedes: (@Sendable (Value, Value) -> Bool)? = nil, key: (Int) -> Value
  ) {
    self.precedes = precedes
    keepsOrder = precedes.map { precedes in zip(keep, keep.dropFirst()).allSatisfy { precedes($0, $1) } } ?? false
    var runs: [Entry] = []
    var start = 0
    while start < count {
      let first = key(start)
      let end =
        precedes == nil
        ? SectionTable.endByWalking(start, count) { key($0).isSameKey(as: first) }
        : SectionTable.endByDoubling(start, count) { key($0).isSameKey(as: first) }
      if let last = runs.last, last.key.isSameKey(as: first) {
        runs[runs.count - 1].weight += end - start
      } else {
        runs.append(Entry(key: first, weight: end - start))
      }
      start = end
    }
    entries = WeightedList(SectionTable.merged(runs, keep, precedes))
  }

  private static func endByWalking(_ start: Int, _ count: Int, _ isSame: (Int) -> Bool) -> Int {
    var end = start + 1
    while end < count, isSame(end) { end += 1 }
    return end
  }

  /// Doubles the step, then halves it: for runs of adjacent rows.
  private static func endByDoubling(_ start: Int, _ count: Int, _ isSame: (Int) -> Bool) -> Int {
    var (inside, step) = (start, 1)
    while inside + step < count, isSame(inside + step) {
      inside += step
      step *= 2
    }
    var outside = Swift.min(inside + step, count)
    while outside - inside > 1 {
      let middle = (inside + outside) / 2
      if isSame(middle) { inside = middle } else { outside = middle }
    }
    return outside
  }

  /// Inserts the empty static sections between the runs, each before the first run that follows it: by the order of the rows if it
  /// is known, otherwise by the order of declaration.
  private static func merged(
    _ runs: [Entry], _ keep: [Value], _ precedes: ((Value, Value) -> Bool)?
  ) -> [Entry] {
    if keep.isEmpty { return runs }
    var result: [Entry] = []
    var rest = keep[...]
    for var run in runs {
      if let precedes {
        while let key = rest.first, precedes(key, run.key) {
          result.append(Entry(key: key, weight: 0, isStatic: true))
          rest.removeFirst()
        }
      }
      if let place = rest.firstIndex(where: { $0.isSameKey(as: run.key) }) {
        result += rest[..<place].map { Entry(key: $0, weight: 0, isStatic: true) }
        rest = rest[(place + 1)...]
        run.isStatic = true
      }
      result.append(run)
    }
    return result + rest.map { Entry(key: $0, weight: 0, isStatic: true) }
  }
}

// MARK: - Reading

extension SectionTable {
  /// The key of a section.
  func key(of section: Int) -> Value { entries[section].key }

  func rowCount(of section: Int) -> Int { entries[section].weight }

  /// The rows of a section, as positions in the list.
  func rows(of section: Int) -> Range<Int> {
    let start = entries.weight(before: section)
    return start..<start + entries[section].weight
  }

  /// The path of a row of the list; nil if there is no such row.
  func path(of row: Int) -> RowPath? { entries.find(row: row).map { RowPath(section: $0.index, row: $0.rest) } }

  /// The position in the list of a path; nil if there is no such row.
  func row(at path: RowPath) -> Int? {
    guard path.section >= 0, path.section < count, path.row >= 0, path.row < entries[path.section].weight else { return nil }
    return entries.weight(before: path.section) + path.row
  }
}

// MARK: - Changing

extension SectionTable {
  /// Removes a row from a section, which may be left empty.
  mutating func removeRow(from section: Int) { entries.update(at: section) { $0.weight -= 1 } }

  /// Inserts a row with a key at a position of the list. Returns the index of the section created for it, if any.
  mutating func insertRow(_ key: Value, at row: Int) -> Int? {
    let next = entries.find(row: row)
    if let next, next.rest > 0 {
      entries.update(at: next.index) { $0.weight += 1 }
      return nil
    }
    // All sections between that of the previous row and the next one are empty.
    let before = entries.find(row: row - 1)?.index
    for section in [before, next?.index].compactMap(\.self) where entries[section].key.isSameKey(as: key) {
      entries.update(at: section) { $0.weight += 1 }
      return nil
    }
    let place = place(of: key, inEmpty: (before.map { $0 + 1 } ?? 0)..<(next?.index ?? entries.count))
    if place.isThere {
      entries.update(at: place.section) { $0.weight += 1 }
      return nil
    }
    entries.insert(Entry(key: key, weight: 1), at: place.section)
    return place.section
  }

  /// Finds the section of a key among empty ones, or the index where it belongs: O(log) of them if the order of rows is known.
  private func place(of key: Value, inEmpty range: Range<Int>) -> (section: Int, isThere: Bool) {
    guard let precedes else {
      let known = range.first { entries[$0].key.isSameKey(as: key) }
      return known.map { ($0, true) } ?? (range.upperBound, false)
    }
    if !keepsOrder {
      if let known = range.first(where: { entries[$0].key.isSameKey(as: key) }) { return (known, true) }
      return (range.first { precedes(key, entries[$0].key) } ?? range.upperBound, false)
    }
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if precedes(entries[middle].key, key) { low = middle + 1 } else { high = middle }
    }
    return (low, low < range.upperBound && entries[low].key.isSameKey(as: key))
  }

  /// Whether a section is empty and not static.
  func isSuperfluous(_ section: Int) -> Bool { entries[section].weight == 0 && !entries[section].isStatic }

  mutating func removeSection(_ section: Int) { entries.remove(at: section) }
}

extension Value {
  /// Whether rows with these keys are in one section: if the order of rows does not distinguish them, such as 0.0 and −0.0.
  func isSameKey(as other: Value) -> Bool { order(to: other) == .same }
}
