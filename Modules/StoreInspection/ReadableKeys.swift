import StorageInterface
import StoreValues

/// Finds the readable objects of a damaged table.
enum ReadableKeys {
  private static let end: Int64 = 1 << 47

  /// The readable keys, ascending. Where a scan fails, searches for the next key from which a scan succeeds. Damage affects
  /// contiguous pieces of a file, so each piece costs a few dozen attempts. Calls `note` for each piece.
  static func find(_ table: TableEntry, in read: any ReadTransaction, _ note: (StorageError) -> Void) -> [Int64] {
    var keys: [Int64] = []
    var from: Int64 = 1
    while from < end {
      do throws(StorageError) {
        try read.scan(table.id, [], from: ObjectKey(from), hints: []) { batch in
          for row in 0..<batch.count where batch.isLive(at: row) {
            let key = batch.key(at: row).rawValue
            // A damaged file may list keys in any order.
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

  /// The smallest key after `damaged` from which a scan succeeds; nil if there is none.
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

  /// Whether a scan from this key yields an object, or reaches the end, without meeting damage.
  private static func begins(at key: Int64, _ table: TableEntry, _ read: any ReadTransaction) -> Bool {
    do throws(StorageError) {
      try read.scan(table.id, [], from: ObjectKey(key), hints: []) { _ in .stop }
      return true
    } catch {
      return false
    }
  }
}
