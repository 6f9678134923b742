import StoreValues

extension NetChanges {
  /// Walks both versions once instead of looking rows up: cheaper with many pending rows, and it compares no sort keys. Nil if
  /// the keys are too sparse for a bitmap. O(n + k).
  func walkedPositions(from old: SortedVersion, to new: SortedVersion) -> NetPositions? {
    guard let touched = TouchedKeys(rows.keys, wordsMax: max(old.count, new.count)) else { return nil }
    var marks = Array(repeating: RowMarks(), count: rows.count)
    var isKept = Array(repeating: false, count: rows.count)
    var keys = Array(repeating: Int64(0), count: rows.count)
    for (key, row) in rows {
      let i = touched.index(of: key)
      keys[i] = key
      marks[i] = row.marks
      isKept[i] = row.known == row.last
    }
    var positions = PositionedChanges()
    var newPositions = Array(repeating: -1, count: rows.count)
    new.forEachTouched(touched) { position, row in
      newPositions[row] = position
      if !isKept[row] { positions.inserted.append(.init(position: position, row: row)) }
    }
    old.forEachTouched(touched) { position, row in
      if isKept[row] {
        positions.kept.append(.init(old: position, new: newPositions[row], row: row))
      } else {
        positions.removed.append(.init(position: position, row: row))
      }
    }
    positions.findPartners(rows: rows.count)
    return NetPositions(positions: positions, marks: marks, keys: keys)
  }
}

extension SortedVersion {
  /// Calls `body` with the position and index of each touched row, in order.
  fileprivate func forEachTouched(_ touched: TouchedKeys, _ body: (Int, Int) -> Void) {
    var start = 0
    forEachBlock { keys in
      for i in keys.indices where touched.contains(keys[i]) { body(start + i, touched.index(of: keys[i])) }
      start += keys.count
    }
  }
}

/// A set of keys as bits, with each key's index in it.
private struct TouchedKeys {
  private let first: Int64
  private var bits: [UInt64]
  /// The number of keys before each word.
  private var before: [Int32]

  /// Nil if it takes more words than allowed, or if there are no keys.
  init?(_ keys: some Collection<Int64>, wordsMax: Int) {
    guard let low = keys.min(), let high = keys.max(), low >= 0 else { return nil }
    first = low & ~63
    let words = Int((high - first) >> 6) + 1
    guard words <= wordsMax else { return nil }
    bits = Array(repeating: 0, count: words)
    before = Array(repeating: 0, count: words)
    for key in keys { bits[Int((key - first) >> 6)] |= 1 << UInt64(key & 63) }
    var sum: Int32 = 0
    for word in bits.indices {
      before[word] = sum
      sum += Int32(bits[word].nonzeroBitCount)
    }
  }

  @inline(__always) func contains(_ key: Int64) -> Bool {
    let word = Int((key &- first) >> 6)
    return word >= 0 && word < bits.count && bits[word] >> UInt64(key & 63) & 1 == 1
  }

  /// The index of a key that is in the set.
  @inline(__always) func index(of key: Int64) -> Int {
    let word = Int((key - first) >> 6)
    return Int(before[word]) + (bits[word] & ((1 << UInt64(key & 63)) - 1)).nonzeroBitCount
  }
}
