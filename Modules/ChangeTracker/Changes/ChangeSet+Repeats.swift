extension ChangeSet {
  /// The change set between two states of a collection that may hold an object several times, by full comparison.
  ///
  /// Rows of one object are indistinguishable, so blocks match by content: the longest block in both states stays, then
  /// recursively to its left and right. Of equal neighbours, the first stay and the last are deleted or inserted. Collections
  /// with very many repeats or very many small staying blocks are compared as if an object's rows were distinguished by their
  /// order, which bounds the time beyond O(n log n).
  package static func between(repeating old: [Int64], _ new: [Int64], modified: Set<Int64>) -> ChangeSet {
    guard let rows = RepeatedRows(old, new) else {
      let (old, new) = (RowIdentity.rows(of: old), RowIdentity.rows(of: new))
      return between(old, new, modified: Set(old.filter { modified.contains(RowIdentity.key(of: $0)) }))
    }
    let changed = Set(old.indices.lazy.filter { modified.contains(old[$0]) }.map { Int64($0) })
    return positions(Array(0..<Int64(old.count)), rows.new, candidates: rows.moved, modified: changed)
      .changeSet(stays: false) { _ in true }
  }
}

/// The correspondence of rows between two states in which an object may have several rows.
struct RepeatedRows {
  /// The most pairs of equal rows that are searched.
  private static let pairCountMax = 20_000
  /// The most rows and pairs that are visited in total, over all blocks searched: there may be as many blocks as rows.
  private static let looksMax = 4_000_000

  /// The new rows, each as its index among the old rows, or a number of its own.
  private(set) var new: [Int64]
  /// Rows in both states whose relative order changed.
  private(set) var moved: Set<Int64> = []

  private struct Block {
    var old: Int
    var new: Int
    var size = 0
  }

  /// Nil if there is too much to search.
  init?(_ old: [Int64], _ keys: [Int64]) {
    new = keys.indices.map { Int64(old.count + $0) }
    var places: [Int64: [Int]] = [:]
    for (i, key) in keys.enumerated() { places[key, default: []].append(i) }
    if old.reduce(0, { $0 + (places[$1]?.count ?? 0) }) > RepeatedRows.pairCountMax { return nil }
    var (stays, stayed) = ([Bool](repeating: false, count: old.count), [Bool](repeating: false, count: keys.count))
    guard RepeatedRows.keepBlocks(old, keys, places, &stays, &stayed) else { return nil }
    RepeatedRows.preferFirst(old, &stays)
    RepeatedRows.preferFirst(keys, &stayed)
    let (oldRows, newRows) = (old.indices.filter { stays[$0] }, keys.indices.filter { stayed[$0] })
    for (row, place) in zip(oldRows, newRows) { new[place] = Int64(row) }
    // The remaining rows of an object in both states moved.
    var left: [Int64: [Int]] = [:]
    for row in old.indices.reversed() where !stays[row] { left[old[row], default: []].append(row) }
    for place in keys.indices where !stayed[place] {
      guard let row = left[keys[place]]?.popLast() else { continue }
      new[place] = Int64(row)
      moved.insert(Int64(row))
    }
  }

  /// Returns false if it gave up.
  private static func keepBlocks(
    _ old: [Int64], _ keys: [Int64], _ places: [Int64: [Int]], _ stays: inout [Bool], _ stayed: inout [Bool]
  ) -> Bool {
    // A common prefix and a common suffix always stay: rows appended at the end are insertions there.
    var (start, oldEnd, newEnd) = (0, old.count, keys.count)
    while start < min(oldEnd, newEnd), old[start] == keys[start] {
      (stays[start], stayed[start]) = (true, true)
      start += 1
    }
    while min(oldEnd, newEnd) > start, old[oldEnd - 1] == keys[newEnd - 1] {
      (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
      (stays[oldEnd], stayed[newEnd]) = (true, true)
    }
    var parts = [(old: start..<oldEnd, new: start..<newEnd)]
    var looks = 0
    while let part = parts.popLast() {
      let block = longestBlock(old, part.old, part.new, places, &looks)
      if looks > looksMax { return false }
      if block.size == 0 { continue }
      for i in 0..<block.size { (stays[block.old + i], stayed[block.new + i]) = (true, true) }
      parts.append((part.old.lowerBound..<block.old, part.new.lowerBound..<block.new))
      parts.append((block.old + block.size..<part.old.upperBound, block.new + block.size..<part.new.upperBound))
    }
    return true
  }

  /// Of equally long blocks, the one that begins first in the old state, then last in the new one.
  private static func longestBlock(
    _ old: [Int64], _ oldRange: Range<Int>, _ newRange: Range<Int>, _ places: [Int64: [Int]], _ looks: inout Int
  ) -> Block {
    looks += oldRange.count + newRange.count
    var best = Block(old: oldRange.lowerBound, new: newRange.lowerBound)
    // The length of the block that ends at each place, and its last old row. Places are visited in descending order, so that
    // the entry before each is still that of the previous row.
    var ends = [(row: Int, size: Int)](repeating: (-1, 0), count: newRange.count)
    for row in oldRange {
      let found = places[old[row]] ?? []
      looks += found.count
      for place in found.reversed() where newRange.contains(place) {
        let offset = place - newRange.lowerBound
        var size = 1
        if offset > 0, row > oldRange.lowerBound, ends[offset - 1].row == row - 1 { size += ends[offset - 1].size }
        ends[offset] = (row, size)
        if size > best.size { best = Block(old: row - size + 1, new: place - size + 1, size: size) }
      }
    }
    return best
  }

  /// Of equal neighbours, the same number stays, but the first ones.
  private static func preferFirst(_ keys: [Int64], _ stays: inout [Bool]) {
    var start = 0
    while start < keys.count {
      var end = start + 1
      while end < keys.count, keys[end] == keys[start] { end += 1 }
      let count = stays[start..<end].count { $0 }
      for i in start..<end { stays[i] = i < start + count }
      start = end
    }
  }
}
