import Storage
import Values

/// The keys of a result at one moment, in order: as runs where they ascend without gaps (a million objects are one
/// run), else one by one.
@usableFromInline final class KeySnapshot: Sendable {
  @usableFromInline let runs: [ClosedRange<Int64>]
  /// The position of each run's first key.
  private let starts: [Int]
  @usableFromInline let keys: [Int64]
  @usableFromInline let count: Int

  /// Keys in any order.
  init(_ keys: [Int64]) {
    self.keys = keys
    runs = []
    starts = []
    count = keys.count
  }

  init(runs: [ClosedRange<Int64>]) {
    self.runs = runs
    keys = []
    var starts: [Int] = []
    var count = 0
    for run in runs {
      starts.append(count)
      count += run.count
    }
    self.starts = starts
    self.count = count
  }

  /// Every object of a table. Reads no column.
  convenience init(of table: TableID, in storage: any StorageReading) throws(StorageError) {
    var runs = KeyRuns()
    try storage.scan(table, [], from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { runs.append(batch.key(at: row).rawValue) }
      return .proceed
    }
    self.init(runs: runs.runs)
  }

  static let empty = KeySnapshot([])

  var array: [Int64] { runs.isEmpty ? keys : runs.flatMap { Array($0) } }

  /// O(1), or O(log runs). The caller keeps `position` within bounds.
  subscript(position: Int) -> Int64 {
    if runs.isEmpty { return keys[position] }
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return runs[low].lowerBound + Int64(position - starts[low])
  }

  func index(of key: Int64) -> Int? {
    if runs.isEmpty { return keys.firstIndex(of: key) }
    guard let run = runs.firstIndex(where: { $0.contains(key) }) else { return nil }
    return starts[run] + Int(key - runs[run].lowerBound)
  }

  func prefix(_ limit: Int) -> KeySnapshot { limit >= count ? self : KeySnapshot(Array(array.prefix(limit))) }
}
