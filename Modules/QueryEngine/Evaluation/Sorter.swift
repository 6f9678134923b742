import StorageInterface
import StoreValues

/// Sorts rows as they come. Rows must come in ascending key order, which is the last tie-break.
///
/// Without a limit, all rows are gathered as normalised numbers and sorted by radix. With one, only the best rows are kept:
/// rows behind the worst of them are rejected at once, and the buffer is cut back when it is full.
final class Sorter {
  private var keys: ContiguousArray<Int64> = []
  let lanes: [SortLane]
  /// The field of each lane.
  let fields: [SortField]
  private let limit: Int?
  /// The number of rows at which the buffer is cut back to the limit.
  private let capacity: Int
  /// The last of the best rows; nil while there are too few.
  private var worst: Int?
  /// The most rows that were held at a time.
  private(set) var rowsHeld = 0

  /// The largest limit for which selection pays; beyond it, everything is sorted and cut.
  static let selectionMax = 50_000

  /// Up to this many rows, sorting is as fast as selecting.
  private static let selectionMin = 4096

  /// `expected` is an upper bound of the rows, if known.
  init(_ fields: [SortField], limit: Int?, expected: Int?) {
    let selects = limit.map { $0 <= Sorter.selectionMax } ?? false && expected ?? .max > Sorter.selectionMin
    self.limit = limit
    capacity = selects ? max((limit ?? 0) * 2, 512) : .max
    let expected = min(expected ?? 0, capacity)
    let parts = fields.flatMap { field in SortLane.parts(field).map { (field, $0) } }
    lanes = parts.map { SortLane($0, $1, expected: expected) }
    self.fields = parts.map(\.0)
    keys.reserveCapacity(expected)
  }

  /// Adds the rows of a batch that are in the mask. May clear rows that need not be added.
  func append(
    _ batch: BatchView, _ mask: Mask, _ scratch: Scratch, _ evaluator: Evaluator
  ) throws(StorageError) {
    if let worst { narrow(mask, behind: worst, batch, scratch) }
    // The scratch's first column is free now; it has room for twice as many row numbers.
    let space = UnsafeMutableRawPointer(scratch.left).assumingMemoryBound(to: Int32.self)
    var count = 0
    Masks.forEach(mask, batch.words) { row in
      space[count] = Int32(truncatingIfNeeded: row)
      count &+= 1
    }
    if count == 0 { return }
    if capacity == .max {
      let rows = UnsafeBufferPointer(start: space, count: count)
      for row in rows { keys.append(batch.key(Int(row))) }
      return try appendLanes(batch, rows, scratch, evaluator)
    }
    if worst != nil { count = keepPromising(batch, space, count, scratch) }
    // One at a time is rare: most rows that get here belong to the best.
    for i in 0..<count {
      keys.append(batch.key(Int(space[i])))
      try appendLanes(batch, UnsafeBufferPointer(start: space + i, count: 1), scratch, evaluator)
      settleLast()
    }
  }

  /// Adds one row by reading the object.
  func append(_ key: Int64, _ evaluator: Evaluator) throws(StorageError) {
    keys.append(key)
    for (lane, field) in zip(lanes, fields) { try read(field, lane, key, evaluator) }
    if capacity != .max { settleLast() }
  }

  /// Whether every field is a word column of the object itself and all rows are kept until the end.
  var ordersByOwnNumbers: Bool { capacity == .max && fields.allSatisfy { $0.path.isOwn && $0.path.type.isWord } }

  /// Adds a run of rows, lane by lane. Requires `ordersByOwnNumbers`.
  func append(_ run: UnsafeBufferPointer<Int64>, _ gatherer: borrowing Gatherer) throws(StorageError) {
    keys.append(contentsOf: run)
    for (lane, field) in zip(lanes, fields) {
      try gatherer.append(field.path.end, run, to: lane)
    }
  }

  /// The keys in order, at most the limit.
  func finish() -> [Int64] {
    rowsHeld = max(rowsHeld, keys.count)
    let order = rowsInOrder()
    let count = min(order.count, limit ?? .max)
    return [Int64](unsafeUninitializedCapacity: count) { buffer, initialized in
      for i in 0..<count { buffer[i] = keys[Int(order[i])] }
      initialized = count
    }
  }

  private func appendLanes(
    _ batch: BatchView, _ rows: UnsafeBufferPointer<Int32>, _ scratch: Scratch, _ evaluator: Evaluator
  ) throws(StorageError) {
    let space = UnsafeMutableRawPointer(scratch.right).assumingMemoryBound(to: UInt64.self)
    for (lane, field) in zip(lanes, fields) {
      if field.path.isOwn {
        lane.append(batch.columns[field.slot], rows, space)
      } else {
        for row in rows { try read(field, lane, batch.key(Int(row)), evaluator) }
      }
    }
  }

  private func read(
    _ field: SortField, _ lane: SortLane, _ key: Int64, _ evaluator: Evaluator
  ) throws(StorageError) {
    if !field.path.isOwn, try !evaluator.reaches(field.path, ObjectKey(key)) { return lane.appendMissing() }
    if field.path.type.isWord { return lane.append(word: try evaluator.word(field.path, ObjectKey(key))) }
    try evaluator.bytes(field.path, ObjectKey(key)) { lane.append(bytes: $0) }
  }
}

extension Sorter {
  /// Drops rows that sort after the worst, lane by lane, without adding them. Returns how many are left.
  private func keepPromising(
    _ batch: BatchView, _ rows: UnsafeMutablePointer<Int32>, _ count: Int, _ scratch: Scratch
  ) -> Int {
    guard let worst else { return count }
    let numbers = UnsafeMutableRawPointer(scratch.right).assumingMemoryBound(to: UInt64.self)
    // 1: better by an earlier lane; 0: equal to the worst so far.
    let better = scratch.flags
    better.update(repeating: 0, count: count)
    var count = count
    for (lane, field) in zip(lanes, fields) {
      guard field.path.isOwn, count > 0 else { return count }
      lane.fill(numbers, batch.columns[field.slot], UnsafeBufferPointer(start: rows, count: count))
      let bound = lane.numbers[worst]
      var kept = 0
      for i in 0..<count {
        let isBetter = better[i] | (numbers[i] < bound ? 1 : 0)
        rows[kept] = rows[i]
        better[kept] = isBetter
        kept &+= isBetter | (numbers[i] == bound ? 1 : 0) == 1 ? 1 : 0
      }
      count = kept
      if lane.isInexact { return count }
    }
    // Equal in every lane: the key decides, and these rows come later.
    var kept = 0
    for i in 0..<count where better[i] == 1 {
      rows[kept] = rows[i]
      kept &+= 1
    }
    return kept
  }

  /// Removes the last row if it sorts after the worst; cuts back a full buffer.
  private func settleLast() {
    let last = keys.count - 1
    if let worst, precedes(worst, last) {
      keys.removeLast()
      for lane in lanes { lane.removeLast() }
      return
    }
    if keys.count >= capacity { cut() }
  }

  private func cut() {
    rowsHeld = max(rowsHeld, keys.count)
    let kept = rowsByComparing().prefix(limit ?? 0)
    keys = ContiguousArray(kept.map { keys[Int($0)] })
    for lane in lanes { lane.keep(kept) }
    worst = kept.isEmpty ? nil : keys.count - 1
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    for lane in lanes {
      let order = lane.compare(a, b)
      if order != 0 { return order < 0 }
    }
    return keys[a] < keys[b]
  }

  private func rowsByComparing() -> [Int32] {
    (0..<Int32(keys.count)).sorted { precedes(Int($0), Int($1)) }
  }

  private func rowsInOrder() -> ContiguousArray<Int32> {
    if capacity != .max || keys.count < 16 { return ContiguousArray(rowsByComparing()) }
    for lane in lanes { lane.sharpen() }
    let packed = PackedLanes(lanes, count: keys.count)
    var entries = packed.entries
    RadixSort.sort(&entries, bits: packed.bits)
    var order = ContiguousArray(entries.map(\.row))
    if packed.isExact { return order }
    // Rows with equal numbers are sorted by comparison, run by run.
    var start = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count, entries[end].number == entries[start].number { end += 1 }
      if end - start > 1 { order[start..<end].sort { precedes(Int($0), Int($1)) } }
      start = end
    }
    return order
  }
}
