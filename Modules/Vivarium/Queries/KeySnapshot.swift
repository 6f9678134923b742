import Notifications
import StorageInterface
import StoreValues

/// The keys of a result at one moment, in order. Stored as runs if they ascend without gaps (a million objects are one run), as a
/// state received from the notifier, or one by one.
@usableFromInline final class KeySnapshot: Sendable {
  @usableFromInline let runs: [ClosedRange<Int64>]
  /// The position of each run's first key.
  private let starts: [Int]
  private let keys: [Int64]
  private let kept: ResultVersion?
  @usableFromInline let count: Int

  /// Keys in any order.
  init(_ keys: [Int64]) {
    self.keys = keys
    runs = []
    starts = []
    kept = nil
    count = keys.count
  }

  init(runs: [ClosedRange<Int64>]) {
    self.runs = runs
    keys = []
    kept = nil
    var starts: [Int] = []
    var count = 0
    for run in runs {
      starts.append(count)
      count += run.count
    }
    self.starts = starts
    self.count = count
  }

  /// A state that the notifier keeps. O(1).
  init(_ kept: ResultVersion) {
    self.kept = kept
    runs = []
    keys = []
    starts = []
    count = kept.count
  }

  /// Every object of a table. Reads no column.
  convenience init(of table: TableID, in storage: any StorageReading) throws(StorageError) {
    var runs = KeyRuns()
    try storage.scan(table, [], from: ObjectKey(1), hints: []) { batch in
      if batch.keys == nil, batch.live == nil, batch.count > 0 {
        runs.append(batch.firstKey.rawValue...batch.key(at: batch.count - 1).rawValue)
        return .proceed
      }
      for row in 0..<batch.count where batch.isLive(at: row) { runs.append(batch.key(at: row).rawValue) }
      return .proceed
    }
    self.init(runs: runs.runs)
  }

  static let empty = KeySnapshot([])

  /// Whether the keys are those of a view, where finding a key means searching all of them.
  var isView: Bool { kept != nil }

  var first: Int64? { count == 0 ? nil : self[0] }

  var array: [Int64] {
    if let kept { return kept.keys(in: 0..<count) }
    return runs.isEmpty ? keys : runs.flatMap { Array($0) }
  }

  /// O(1), O(log runs), or O(log n) in a view. The caller keeps `position` within bounds.
  subscript(position: Int) -> Int64 {
    // A view has every position below its count, so 0 is never returned.
    if let kept { return kept.key(at: position) ?? 0 }
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
    if kept != nil { return array.firstIndex(of: key) }
    if runs.isEmpty { return keys.firstIndex(of: key) }
    guard let run = runs.firstIndex(where: { $0.contains(key) }) else { return nil }
    return starts[run] + Int(key - runs[run].lowerBound)
  }

  /// The available keys from a position on. Only if there are no runs.
  @usableFromInline func block(from position: Int) -> ArraySlice<Int64> {
    if let kept { return kept.keys(in: position..<min(position + 1_024, count))[...] }
    return keys[position...]
  }

  /// The keys cut or extended to `count`: missing ones are 0, which no object has.
  func resized(to count: Int) -> KeySnapshot {
    if count <= self.count { return prefix(count) }
    return KeySnapshot(array + [Int64](repeating: 0, count: count - self.count))
  }

  func prefix(_ limit: Int) -> KeySnapshot { limit >= count ? self : KeySnapshot(Array(array.prefix(limit))) }
}
