import StorageInterface
import StoreValues

/// Chunks and their cells, looked up once per transaction.
extension ColumnReading {
  /// The chunk for a key, whether or not it holds the key; nil if there is none.
  @inline(__always) final func chunk(_ table: TableState, _ key: Int64) throws(StorageError) -> Chunk? {
    if let fresh = table.fresh, key >= fresh.firstKey { return fresh }
    guard key > 0 else { return nil }
    return try chunk(table, number: table.chunkNumber(of: key))
  }

  @inline(__always) final func chunk(_ table: TableState, number: Int64) throws(StorageError) -> Chunk? {
    if let chunk = table.chunks[number] { return chunk }
    return try readChunk(table, number: number)
  }

  @inline(never) private final func readChunk(_ table: TableState, number: Int64) throws(StorageError) -> Chunk? {
    let chunk: Chunk
    if let frame = try imageFrame(table, number) {
      if frame.pointee.count == 0 { return nil }
      chunk = Chunk(frame.pointee, number: number, capacity: table.rowsPerChunk, cellCount: table.shapes.count)
    } else {
      guard let bytes = try value(.chunkMap(table.id, number)) else { return nil }
      chunk = try decoding(.chunkMap(table.id, number)) { () throws(StorageError) in
        try ChunkMap.decode(bytes, number: number, rowsPerChunk: table.rowsPerChunk, cellCount: table.shapes.count)
      }
    }
    table.chunks[number] = chunk
    return chunk
  }

  /// The chunk and position of an object; throws `.objectDeleted` if it is not live.
  @inline(__always) final func place(
    _ table: TableState, _ key: ObjectKey
  ) throws(StorageError) -> (chunk: Chunk, position: Int) {
    guard let chunk = try chunk(table, key.rawValue), let position = chunk.position(of: key.rawValue) else {
      throw .deleted(table.entry, key)
    }
    return (chunk, position)
  }

  /// Reads the cell of a column unless it was read already.
  @inline(__always) final func load(_ table: TableState, _ chunk: Chunk, _ slot: Int) throws(StorageError) {
    if chunk.cells[slot].state == .unknown { try loadUnknown(table, chunk, slot) }
  }

  private final func loadUnknown(_ table: TableState, _ chunk: Chunk, _ slot: Int) throws(StorageError) {
    let shape = table.shapes[slot]
    if chunk.isStored, let cell = try imageCell(table, chunk, slot) {
      chunk.cells[slot].vector = cell.pointee.vector
      chunk.cells[slot].external = cell.pointee.external
      chunk.cells[slot].state = .encoded
      return
    }
    let bytes = chunk.isStored ? try value(.column(table.id, shape.property, chunk.number)) : nil
    let column: DecodedColumn
    if let bytes, !shape.areOldDates(bytes) {
      column = try decoding(.column(table.id, shape.property, chunk.number)) { () throws(StorageError) in
        try DecodedColumn(bytes, form: shape.form, count: chunk.count)
      }
    } else {
      column = DecodedColumn(absent: shape, count: chunk.count)
    }
    chunk.cells[slot].vector = column.vector
    chunk.cells[slot].external = column.external
    chunk.cells[slot].scratch = column.scratch
    chunk.cells[slot].state = .encoded
  }
}
