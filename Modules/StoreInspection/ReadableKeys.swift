import StorageInterface
import StoreValues

/// Finds the objects of a table of which some cannot be read.
enum ReadableKeys {
  private static let end: Int64 = 1 << 47

  /// The keys that can be reached, ascending. Where a scan breaks off, the next place is looked for from which one begins again: as
  /// damage is in pieces of a file, that costs a few dozen tries for each. `note` is told of each piece.
  static func find(_ table: TableEntry, in read: any ReadTransaction, _ note: (StorageError) -> Void) -> [Int64] {
    var keys: [Int64] = []
    var from: Int64 = 1
    while from < end {
      do throws(StorageError) {
        try read.scan(table.id, [], from: ObjectKey(from), hints: []) { batch in
          for row in 0..<batch.count where batch.isLive(at: row) {
            let key = batch.key(at: row).rawValue
            // A damaged file may have them in any order.
            if key >= from, key > keys.last ?? 0 { keys.append(key) }
          }
          return .proceed
        }
        return keys
      } catch {
        note(error)
        if let last = keys.last, last >= from { from = last + 1 }
        guard let next = next(after: from, table, read) else { return keys }
        from = next
      }
    }
    return keys
  }

  /// The least place behind another from which a scan begins; nil where there is none.
  private static func next(after damaged: Int64, _ table: TableEntry, _ read: any ReadTransaction) -> Int64? {
    var (low, step) = (damaged, Int64(1))
    var high = damaged + step
    while !begins(at: high, table, read) {
      low = high
      step *= 2
      high = damaged + step
      if high >= end { return nil }
    }
    while low + 1 < high {
      let middle = low + (high - low) / 2
      if begins(at: middle, table, read) { high = middle } else { low = middle }
    }
    return high
  }

  /// Whether a scan from there on gives anything, or ends, without having met damage.
  private static func begins(at key: Int64, _ table: TableEntry, _ read: any ReadTransaction) -> Bool {
    do throws(StorageError) {
      try read.scan(table.id, [], from: ObjectKey(key), hints: []) { _ in .stop }
      return true
    } catch {
      return false
    }
  }
}
