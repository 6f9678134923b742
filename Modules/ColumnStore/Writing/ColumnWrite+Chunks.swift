import StorageInterface
import StoreValues

extension ColumnWrite {
  /// Turns the fresh rows into a chunk, or appends them to one, and encodes complete columns. Returns columns that can be
  /// reused for the next fresh rows; empty if there are none.
  func seal(_ table: TableState, _ fresh: Chunk) throws(StorageError) -> [EditedColumn?] {
    try makeFreshEntries(table)
    table.fresh = nil
    table.changeFresh()
    // Dead rows alone need no chunk, unless a savepoint may restore them or their own entries must still be removed; the commit
    // drops a chunk without live rows.
    if fresh.liveCount == 0, !isRecordingUndo, !table.leavingEntries.contains(where: { $0 >= fresh.firstKey }) { return [] }
    guard fresh.count > 0 else { return [] }
    if let base = try chunk(table, number: fresh.number) {
      try append(fresh, to: base, table)
      return []
    }
    let offset = Int(fresh.firstKey - table.firstKey(of: fresh.number))
    let chunk = Chunk(
      number: fresh.number, firstKey: table.firstKey(of: fresh.number), capacity: table.rowsPerChunk,
      cellCount: table.shapes.count)
    chunk.takeRows(of: fresh, offset: offset)
    chunk.isChanged = true
    table.chunks[chunk.number] = chunk
    table.addedNumbers.append(chunk.number)
    var reusable = [EditedColumn?](repeating: nil, count: table.shapes.count)
    guard table.lists.isEmpty else { return [] }
    for slot in table.shapes.indices {
      guard let column = chunk.cells[slot].edited, !column.hasLongValues else { continue }
      let encoded = ColumnEncoder.encode(column)
      let decoded = try DecodedColumn(encoded.bytes, form: column.form, count: chunk.count)
      chunk.cells[slot] = ColumnCell()
      chunk.cells[slot].state = .encoded
      chunk.cells[slot].isNew = true
      chunk.cells[slot].vector = decoded.vector
      chunk.cells[slot].owned = encoded
      chunk.cells[slot].scratch = decoded.scratch
      reusable[slot] = column
    }
    return reusable
  }

  /// Appends fresh rows to the stored rows of their chunk.
  private func append(_ fresh: Chunk, to base: Chunk, _ table: TableState) throws(StorageError) {
    let offset = Int(fresh.firstKey - base.firstKey)
    // Rows are in key order, and the fresh rows do not exceed one chunk.
    guard base.count == 0 || base.key(at: base.count - 1) < fresh.firstKey else {
      throw named(.corrupt("a table gives keys that are in use"), .table(.tableRecord, table.id))
    }
    if !base.isSparse, base.count != offset { base.makeSparse() }
    for slot in table.shapes.indices {
      guard let from = fresh.cells[slot].edited else { continue }
      let column = try edited(table, base, slot)
      for row in 0..<fresh.count { column.append(from, row: row) }
    }
    for row in 0..<fresh.count { base.appendRow(offset + row, isLive: Bits.test(fresh.live, row)) }
    base.isChanged = true
    forgetPlaces(of: table, base)
  }

  /// Drops dead rows from a chunk with few live ones.
  func compact(_ table: TableState, _ chunk: Chunk) throws(StorageError) {
    guard chunk.liveCount > 0, chunk.liveCount * 4 < chunk.count else { return }
    let rows = chunk.livePositions
    for slot in table.shapes.indices where table.shapes[slot].form != .none {
      try edited(table, chunk, slot).keep(rows)
    }
    chunk.keep(rows)
  }
}

extension EditedColumn {
  /// Whether a value is in an entry of its own, or must be.
  var hasLongValues: Bool {
    guard form == .bytes else { return false }
    var total = 0
    for row in 0..<count {
      if Bits.test(external, row) || slices[row].count > ExternalValues.inlineMax { return true }
      total += slices[row].count
    }
    return total > ExternalValues.chunkMax
  }

  /// The greatest length of a byte string stored in the chunk, such that all of them stay within the chunk's limit. Found by
  /// halving, so that short values stay and small changes move few.
  var inlineMax: Int {
    var limit = ExternalValues.inlineMax
    while limit > 64 {
      var total = 0
      for row in 0..<count where !isExternal(row) && slices[row].count <= limit { total += slices[row].count }
      if total <= ExternalValues.chunkMax { break }
      limit /= 2
    }
    return limit
  }
}

extension Chunk {
  /// Takes the rows and cells of fresh rows that begin `offset` keys into this chunk.
  func takeRows(of fresh: Chunk, offset: Int) {
    for slot in 0..<Swift.min(cellCount, fresh.cellCount) { cells[slot] = fresh.cells[slot] }
    if offset > 0 { makeSparse() }
    for row in 0..<fresh.count { appendRow(offset + row, isLive: Bits.test(fresh.live, row)) }
  }
}
