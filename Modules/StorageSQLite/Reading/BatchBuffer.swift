import CVivariumSQLite
import StorageInterface
import StoreValues

/// The memory of one batch, reused for each batch of a scan.
final class BatchBuffer {
  /// The most rows of a batch.
  private static let rowsMax = 512
  /// The size of a column's text or data at which a batch is lent early.
  private static let bytesMax = 1 << 20

  private(set) var count = 0
  private(set) var rowsWanted = 32
  /// The last key of all batches.
  private var last: Int64?
  /// A key was not above the previous one.
  private(set) var isOutOfOrder = false
  private let keys: UnsafeMutablePointer<Int64>
  private let columns: UnsafeMutableBufferPointer<ColumnBuffer>
  private let vectors: UnsafeMutablePointer<ColumnVector>

  init(_ cells: [CellType]) {
    keys = .allocate(capacity: BatchBuffer.rowsMax)
    columns = .allocate(capacity: cells.count)
    _ = columns.initialize(from: cells.map { ColumnBuffer($0, capacity: BatchBuffer.rowsMax) })
    vectors = .allocate(capacity: max(cells.count, 1))
  }

  deinit {
    for column in columns { column.deallocate() }
    columns.deinitialize()
    columns.deallocate()
    keys.deallocate()
    vectors.deallocate()
  }

  /// Discards the rows of the previous batch.
  func start() {
    if count > 0 { rowsWanted = min(rowsWanted * 2, BatchBuffer.rowsMax) }
    count = 0
    for at in columns.indices { columns[at].start() }
  }

  /// The key of the last row. Only for a batch with rows and keys.
  var lastKey: Int64 { keys[count - 1] }

  var isFull: Bool {
    for column in columns where column.arenaUsed >= BatchBuffer.bytesMax { return true }
    return false
  }

  /// Appends the current row of a statement. Returns the position of a column with a value of another type, or nil.
  @inline(__always) func append(_ statement: Statement, hasKeys: Bool) -> Int? {
    let first: Int32 = hasKeys ? 1 : 0
    if hasKeys {
      let key = statement.int64(0)
      // Only a damaged file has them in another order; such a batch could be mistaken for a dense one.
      if let last, key <= last {
        isOutOfOrder = true
        return 0
      }
      last = key
      keys[count] = key
    }
    for at in 0..<columns.count {
      if !columns[at].append(statement, first &+ Int32(truncatingIfNeeded: at), at: count) { return at }
    }
    count &+= 1
    return nil
  }

  /// Lends the batch, with keys unless they are consecutive.
  func lend(_ body: (borrowing ColumnBatch) -> Step) -> Step {
    let first = keys[0]
    // They ascend but are otherwise arbitrary: the difference can overflow.
    let isDense = keys[count - 1] &- first == Int64(count - 1)
    return lend(firstKey: first, keys: isDense ? nil : UnsafePointer(keys), body)
  }

  /// Lends a batch of list elements, which have no keys.
  func lendElements(from position: Int, _ body: (borrowing ColumnBatch) -> Step) -> Step {
    lend(firstKey: Int64(position), keys: nil, body)
  }

  private func lend(
    firstKey: Int64, keys: UnsafePointer<Int64>?, _ body: (borrowing ColumnBatch) -> Step
  ) -> Step {
    for (at, column) in columns.enumerated() { (vectors + at).initialize(to: column.vector(count: count)) }
    return body(
      ColumnBatch(
        firstKey: ObjectKey(firstKey), keys: keys, count: count,
        columns: UnsafeBufferPointer(start: vectors, count: columns.count)))
  }
}
