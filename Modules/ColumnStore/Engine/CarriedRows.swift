import StorageInterface
import StoreValues

/// The fresh rows of a table after a write, decoded and encoded, so that the next write need not read what this process has
/// just written.
///
/// `@unchecked`: the chunk belongs to the sole owner of this value: the ending write passes it to the cache, whose lock hands
/// it to one beginning write. It does not point into a snapshot.
struct CarriedRows: @unchecked Sendable {
  let table: TableID
  /// The version that the write made, and the only one the chunk is valid for.
  let version: Version
  let chunk: Chunk
  let encoded: ValueBuffer

  /// Nil if a value is in an entry of its own: what is known of those belongs to the write.
  init?(table: TableID, version: Version, chunk: Chunk, encoded: ValueBuffer) {
    for slot in 0..<chunk.cellCount {
      guard let column = chunk.cells[slot].edited else { continue }
      if column.hasLongValues { return nil }
      column.markStored()
    }
    chunk.settle()
    self.table = table
    self.version = version
    self.chunk = chunk
    self.encoded = encoded
  }
}
