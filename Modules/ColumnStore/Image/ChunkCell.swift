import StorageInterface

/// One column of one chunk, decoded.
struct ChunkCell: BitwiseCopyable {
  var vector: ColumnVector
  /// Rows whose bytes are in an entry of their own.
  var external: UnsafePointer<UInt64>?
}

/// The memory that a cell points to, other than its snapshots'.
final class CellMemory: Sendable {
  private let value: ValueBuffer?
  private let bitmaps: ValueBuffer?
  /// Provides the value of a column without an entry.
  private let shape: ColumnShape?
  private let byteCount: Int
  private let budget: ImageBudget

  init(_ value: LastingValue, bitmaps: ValueBuffer?, _ budget: ImageBudget) {
    self.value = value.owner
    self.bitmaps = bitmaps
    self.budget = budget
    shape = nil
    byteCount = 96 + (value.isCopy ? value.bytes.count : 0) + (bitmaps?.count ?? 0)
    budget.take(byteCount)
  }

  init(absent shape: ColumnShape, _ budget: ImageBudget) {
    (value, bitmaps, self.shape, byteCount, self.budget) = (nil, nil, shape, 96, budget)
    budget.take(byteCount)
  }

  deinit { budget.give(byteCount) }
}
