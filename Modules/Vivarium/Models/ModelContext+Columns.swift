import StorageInterface
import StoreValues

extension ModelContext {
  /// One scalar of many objects, in the order of the keys; nil for null and for a deleted object. Creates no objects.
  ///
  /// Reads by ascending key, whatever the order: in one scan if most rows of a range are wanted, otherwise window by window if the
  /// engine lends windows. O(n), plus a sort if the keys do not ascend.
  func values<V: Scalar>(of keys: [Int64], _ ordinal: Int) throws(StorageError) -> [V?] {
    var values = [V?](repeating: nil, count: keys.count)
    let walk = KeyWalk(keys)
    guard let span = walk.span else { return values }
    if Double(keys.count) * ModelContext.scanFactor >= span {
      try scan(walk, ordinal, into: &values)
    } else if let windowed = store.windowed {
      // The store's own windows end when their column is read again.
      store.dropWindows()
      try look(walk, ordinal, windowed, into: &values)
    } else {
      try read(walk, ordinal, into: &values)
    }
    if V.self == AnyValue.self {
      // Their links stay links to this store's objects.
      for i in values.indices {
        if let value = values[i] { values[i] = V.copied(value.persistedValue, from: store.identity) }
      }
    }
    return values
  }

  /// Scanning this many rows costs about as much as looking up one.
  private static let scanFactor = 8.0

  private func scan<V: Scalar>(_ walk: KeyWalk, _ ordinal: Int, into values: inout [V?]) throws(StorageError) {
    var next = 0
    try store.reading.scan(table, [columns[ordinal].property], from: ObjectKey(walk.key(0)), hints: []) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count where batch.isLive(at: row) {
        let key = batch.key(at: row).rawValue
        while next < walk.count, walk.key(next) < key { next += 1 }
        if next == walk.count { return .stop }
        guard walk.key(next) == key else { continue }
        let value = vector.isNull(at: row) ? nil : V._$decode(vector, row)
        while next < walk.count, walk.key(next) == key {
          values[walk.place(next)] = value
          next += 1
        }
      }
      return next < walk.count ? .proceed : .stop
    }
  }

  private func look<V: Scalar>(
    _ walk: KeyWalk, _ ordinal: Int, _ windowed: any WindowedReading, into values: inout [V?]
  ) throws(StorageError) {
    var window: ColumnWindow?
    for i in 0..<walk.count {
      let key = walk.key(i)
      if window.map({ key - $0.firstKey >= Int64($0.vector.count) }) ?? true {
        window = try windowed.window(columns[ordinal], containing: ObjectKey(key))
      }
      // Ascending keys never lie before a window opened for an earlier one.
      guard let window, let row = window.row(of: key), !window.vector.isNull(at: row) else { continue }
      values[walk.place(i)] = V._$decode(window.vector, row)
    }
  }

  private func read<V: Scalar>(_ walk: KeyWalk, _ ordinal: Int, into values: inout [V?]) throws(StorageError) {
    for i in 0..<walk.count {
      do throws(StorageError) {
        values[walk.place(i)] = V(persisted: try store.reading.value(columns[ordinal], ObjectKey(walk.key(i))))
      } catch {
        if error.code != .objectDeleted { throw error }
      }
    }
  }
}

/// Keys in any order, iterated in ascending order.
private struct KeyWalk {
  private let keys: [Int64]
  /// The positions of the keys in ascending key order; nil if the keys ascend.
  private let order: [Int]?

  init(_ keys: [Int64]) {
    self.keys = keys
    let ascends = zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 }
    order = ascends ? nil : keys.indices.sorted { keys[$0] < keys[$1] }
  }

  var count: Int { keys.count }
  func place(_ i: Int) -> Int { order.map { $0[i] } ?? i }
  func key(_ i: Int) -> Int64 { keys[place(i)] }

  /// The number of rows from the least to the greatest key, both included; nil for no keys.
  var span: Double? { keys.isEmpty ? nil : Double(key(count - 1)) - Double(key(0)) + 1 }
}

extension ColumnWindow {
  fileprivate func row(of key: Int64) -> Int? {
    guard key >= firstKey, key - firstKey < Int64(vector.count) else { return nil }
    let row = Int(key - firstKey)
    guard let live else { return row }
    return live[row &>> 6] &>> UInt64(row & 63) & 1 == 1 ? row : nil
  }
}
