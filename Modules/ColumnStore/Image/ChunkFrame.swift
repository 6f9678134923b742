import StorageInterface

/// The rows of one chunk, in 32 bytes: scans go through thousands.
struct ChunkFrame: BitwiseCopyable {
  let firstKey: Int64
  private let rowCount: UInt32
  private let livingCount: UInt32
  /// nil: every row is live.
  var live: UnsafePointer<UInt64>?
  /// The key of each row; nil: row i has the key `firstKey + i`.
  var keys: UnsafePointer<Int64>?

  /// Counts of 0: the chunk does not exist.
  init(firstKey: Int64, count: Int = 0, liveCount: Int = 0) {
    self.firstKey = firstKey
    rowCount = UInt32(truncatingIfNeeded: count)
    livingCount = UInt32(truncatingIfNeeded: liveCount)
  }

  var count: Int { Int(rowCount) }
  var liveCount: Int { Int(livingCount) }

  /// The key minus `firstKey` of each row; nil if keys are consecutive.
  var offsets: [UInt16]? {
    keys.map { keys in (0..<count).map { UInt16(truncatingIfNeeded: keys[$0] &- firstKey) } }
  }
}

/// The memory that the frame of a chunk points to, if the chunk has holes or lists its keys.
///
/// `@unchecked` is sound: only `init` writes, before anyone else has the object; `deinit` frees.
final class ChunkRows: @unchecked Sendable {
  let live: UnsafeMutablePointer<UInt64>?
  let keys: UnsafeMutablePointer<Int64>?
  private let byteCount: Int
  private let budget: ImageBudget

  /// `live` is a bitmap at any alignment; nil if all rows are live.
  init(firstKey: Int64, count: Int, offsets rows: [UInt16]?, live words: UnsafeRawPointer?, _ budget: ImageBudget) {
    self.budget = budget
    let wordCount = words == nil ? 0 : Bits.wordCount(count)
    live = words.map { words in
      let copy = UnsafeMutablePointer<UInt64>.allocate(capacity: wordCount + 1)
      for i in 0..<wordCount { (copy + i).initialize(to: words.number(i * 8)) }
      if count & 63 != 0 { copy[count >> 6] &= (1 << UInt64(count & 63)) - 1 }
      (copy + wordCount).initialize(to: 0)
      return copy
    }
    keys = rows.map { rows in
      let list = UnsafeMutablePointer<Int64>.allocate(capacity: max(rows.count, 1))
      for (i, row) in rows.enumerated() { (list + i).initialize(to: firstKey &+ Int64(row)) }
      return list
    }
    byteCount = 64 + wordCount * 8 + (rows?.count ?? 0) * 8
    budget.take(byteCount)
  }

  deinit {
    live?.deallocate()
    keys?.deallocate()
    budget.give(byteCount)
  }
}
