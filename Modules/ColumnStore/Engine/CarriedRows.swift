import StorageInterface
import StoreValues

/// The fresh rows of a table as a write has left them, decoded and encoded: the next write need not read what this process
/// has just written.
///
/// `@unchecked`: the chunk belongs to whoever has this value, and only one has: the write that ends passes it to the
/// cache, whose lock gives it to one write that begins. It points into no snapshot.
struct CarriedRows: @unchecked Sendable {
  let table: TableID
  /// What the write has made: the chunk is of use from there on alone.
  let version: Version
  let chunk: Chunk
  let encoded: ValueBuffer

  /// Nil when some value lies in an entry of its own: what is known of those is of the write.
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
