import ChangeTracker
import StorageInterface
import StoreValues
import VivariumTestSupport

/// A random history of rows that come, go, match, change and move, without a store: what the views and the net
/// changes are tested against.
struct ViewHistory {
  struct Row: Equatable {
    var isAlive = false
    var matches = false
    var prefix: UInt64 = 0
    var second: UInt64 = 0
    var suffix: UInt8 = 0
  }

  var random: SeededGenerator
  let hasFullKeys: Bool
  let isSorted: Bool
  /// Whether entries have a second prefix.
  let isWide: Bool
  private(set) var rows: [Row]
  private let prefixes: Int
  private let suffixes: Int

  init(_ random: SeededGenerator) {
    self.random = random
    let kind = self.random.below(4)
    isSorted = kind > 0
    hasFullKeys = kind > 1
    prefixes = 1 + self.random.below(6)
    let mayBeWide = self.random.oneIn(2)
    isWide = kind > 0 && mayBeWide
    suffixes = kind > 1 ? 1 + self.random.below(5) : 1
    rows = Array(repeating: Row(), count: 4 + self.random.below(50))
    for i in rows.indices {
      rows[i].isAlive = self.random.below(3) > 0
      rows[i].matches = rows[i].isAlive && self.random.below(3) > 0
      newPlace(i)
    }
  }

  func place(_ key: Int64) -> OrderedRow? {
    let row = rows[Int(key)]
    guard row.matches else { return nil }
    let entry = ViewEntry(prefix: row.prefix, second: row.second, key: key)
    return OrderedRow(entry, sortKey: hasFullKeys ? [row.suffix] : [])
  }

  /// The result, the slow way.
  var result: [Int64] { rows.indices.compactMap { place(Int64($0)) }.sorted().map(\.key) }

  var fullKeys: FullKeys? {
    guard hasFullKeys else { return nil }
    let rows = rows
    return FullKeys { (key: Int64) in [rows[Int(key)].suffix] }
  }

  mutating func makeView() -> ResultView {
    let keys = result
    guard isSorted else { return .byKey(keys) }
    let entries = keys.compactMap { place($0)?.entry }
    let layout = [(4, 4), (5, 4), (8, 6), (64, 64)][random.below(4)]
    return .testing(entries, leaf: layout.0, inner: layout.1, isWide: isWide)
  }

  /// One commit: some rows change, some are only said to have. The mask tells two properties apart: 1 and 2.
  mutating func step() -> [RowChange] {
    let count = [0, 1, 1, 2, 3, rows.count / 3, rows.count][random.below(7)]
    var changes: [RowChange] = []
    for i in rows.indices.shuffled(using: &random).prefix(count) {
      let key = Int64(i)
      let old = place(key)
      let marks = change(i)
      let new = place(key)
      // A row that is none may be sent with the place it would have: the view knows that it is not there.
      changes.append(RowChange(key: key, old: old ?? (random.oneIn(2) ? new : nil), new: new, marks: marks))
    }
    return changes
  }

  private mutating func change(_ i: Int) -> RowMarks {
    switch random.below(6) {
    case 0:
      rows[i].isAlive = false
      rows[i].matches = false
      return RowMarks()
    case 1:
      if rows[i].isAlive {
        rows[i].matches.toggle()
      } else {
        rows[i].isAlive = true
        rows[i].matches = true
        newPlace(i)
      }
      return RowMarks(properties: PropertySet([PropertyID(2)]))
    case 2, 3:
      if rows[i].isAlive { newPlace(i) }
      return RowMarks(properties: PropertySet([PropertyID(1)]))
    case 4: return RowMarks(properties: PropertySet([PropertyID(2)]))
    default: return RowMarks(properties: PropertySet([PropertyID(1)]))
    }
  }

  private mutating func newPlace(_ i: Int) {
    rows[i].prefix = isSorted ? UInt64(random.below(prefixes)) : 0
    rows[i].second = isWide ? UInt64(random.below(3)) : 0
    rows[i].suffix = UInt8(random.below(suffixes))
  }
}
