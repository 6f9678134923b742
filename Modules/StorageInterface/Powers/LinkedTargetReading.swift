import StoreValues

/// A power of transactions: finds which objects anything links to, without asking for each of them.
///
/// Who deletes many objects of a type asks it for each property that could link to them, so that a hundred thousand objects that no
/// list holds cost no look-up each.
public protocol LinkedTargetReading: StorageReading {
  /// The first object of a table, from `key` on by its key, that has backlinks through `column`; nil if there is none. One that lost
  /// its last backlink in this very write may be named still. O(log links).
  func firstTarget(from key: ObjectKey, in table: TableID, through column: ColumnID) throws(StorageError) -> ObjectKey?
}

extension StorageReading {
  /// Those of some objects of a table, ascending and each once, that links of `column` may point to; all that they do point to are among
  /// them. O(log links) for each of the result, and not for each that is asked about, where the engine has the power.
  package func linked(_ targets: [Int64], in table: TableID, through column: ColumnID) throws(StorageError) -> [Int64] {
    guard let reading = powers.targets else { return targets }
    var found: [Int64] = []
    var next = 0
    while next < targets.count {
      guard let target = try reading.firstTarget(from: ObjectKey(targets[next]), in: table, through: column) else { break }
      guard target.rawValue >= targets[next] else {
        throw StorageError(
          .corrupt, .engine, "The store is damaged: the links to objects from \(targets[next]) on begin with \(target.rawValue).",
          remedy: "Restore the store from a copy, or copy what can still be read into a new one.")
      }
      next = targets.position(notBelow: target.rawValue, from: next)
      guard next < targets.count, targets[next] == target.rawValue else { continue }
      found.append(target.rawValue)
      next += 1
    }
    return found
  }
}

extension [Int64] {
  /// The first position from `start` on that is not below a number, in ascending ones. O(log distance).
  fileprivate func position(notBelow number: Int64, from start: Int) -> Int {
    var step = 1
    var low = start
    while low + step < count, self[low + step] < number {
      low += step
      step *= 2
    }
    var high = Swift.min(count, low + step)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
