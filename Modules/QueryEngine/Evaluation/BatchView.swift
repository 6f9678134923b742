import StorageInterface
import StoreValues

/// The pointers of a `ColumnBatch`, valid inside the call that lent it only.
struct BatchView {
  let firstKey: Int64
  let keys: UnsafePointer<Int64>?
  let count: Int
  let live: UnsafePointer<UInt64>?
  let columns: UnsafeBufferPointer<ColumnVector>

  init(_ batch: borrowing ColumnBatch) {
    firstKey = batch.firstKey.rawValue
    keys = batch.keys
    count = batch.count
    live = batch.live
    columns = batch.columns
  }

  @inline(__always) func key(_ row: Int) -> Int64 { keys.map { $0[row] } ?? firstKey &+ Int64(row) }
  var words: Int { Masks.words(for: count) }
}

/// Memory for evaluating batches, allocated once per query.
final class Scratch {
  private(set) var capacity: Int
  private let depth: Int
  private var masks: UnsafeMutablePointer<UInt64>
  /// One byte per row, 0 or 1, padded for whole words of 64 rows.
  private(set) var flags: UnsafeMutablePointer<UInt8>
  /// Two columns decoded to 64 bits.
  private(set) var left: UnsafeMutablePointer<Int64>
  private(set) var right: UnsafeMutablePointer<Int64>

  /// Allocates `depth` masks, for batches of up to 4,096 rows, the most the storage interface allows; larger batches make it
  /// grow.
  init(depth: Int) {
    self.depth = depth
    capacity = 4096
    masks = .allocate(capacity: Masks.words(for: capacity) * depth)
    flags = .allocate(capacity: capacity + 64)
    left = .allocate(capacity: capacity)
    right = .allocate(capacity: capacity)
  }

  deinit { free() }

  func reserve(_ rows: Int) {
    if rows <= capacity { return }
    free()
    capacity = (rows + 63) & ~63
    masks = .allocate(capacity: Masks.words(for: capacity) * depth)
    flags = .allocate(capacity: capacity + 64)
    left = .allocate(capacity: capacity)
    right = .allocate(capacity: capacity)
  }

  func mask(_ level: Int) -> Mask { masks + level * Masks.words(for: capacity) }

  private func free() {
    masks.deallocate()
    flags.deallocate()
    left.deallocate()
    right.deallocate()
  }
}
