import StorageInterface
import StoreValues

extension ColumnWrite {
  func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    try checkWritable()
    let table = try self.table(table)
    let (chunk, position) = try place(table, key)
    try delete(table, chunk, position, key.rawValue)
  }

  /// By the chunk, as long as the keys ascend.
  func delete(_ table: TableID, all keys: [Int64]) throws(StorageError) -> [Int64] {
    try checkWritable()
    let table = try self.table(table)
    var gone: [Int64] = []
    gone.reserveCapacity(keys.count)
    var rows: [Int] = []
    var start = 0
    while start < keys.count {
      guard let chunk = try chunk(table, keys[start]) else {
        start += 1
        continue
      }
      let end = endOfRun(keys, from: start, of: table, chunk)
      rows.removeAll(keepingCapacity: true)
      for key in keys[start..<end] { if let position = chunk.position(of: key) { rows.append(position) } }
      if isRecordingUndo || rows.count < ColumnWrite.deletedTogetherMin {
        for position in rows { try delete(table, chunk, position, chunk.key(at: position)) }
      } else {
        try delete(table, chunk, together: rows)
      }
      for position in rows { gone.append(chunk.key(at: position)) }
      start = end
    }
    return gone
  }

  /// Fewer rows of a chunk are deleted one by one.
  private static let deletedTogetherMin = 4

  /// Where ascending keys of one chunk end.
  private func endOfRun(_ keys: [Int64], from start: Int, of table: TableState, _ chunk: Chunk) -> Int {
    var limit = Int64.max
    if chunk !== table.fresh { limit = min(table.firstKey(of: chunk.number + 1), table.fresh?.firstKey ?? .max) }
    var end = start + 1
    while end < keys.count, keys[end] > keys[end - 1], keys[end] < limit { end += 1 }
    return end
  }

  private func delete(_ table: TableState, _ chunk: Chunk, _ position: Int, _ key: Int64) throws(StorageError) {
    let isFresh = chunk === table.fresh
    if isFresh, isRecordingUndo { try makeFreshEntries(table) }
    for i in table.indexes.indices {
      if isFresh, table.lacksFresh(i) { continue }
      let index = table.indexes[i]
      if index.linksInside {
        try removeBacklinks(table, i, key, chunk, position)
      } else {
        try addEntry(table, i, chunk, position, object: key, isRemoval: true)
      }
    }
    for slot in 0..<table.shapes.count where table.traits[slot].form == .bytes {
      try noteOwnEntries(table, chunk, position, slot, key)
    }
    setLife(table, chunk, position, false)
    if isRecordingUndo { undo.append(.life(table, key: key, wasLiving: true)) }
  }

  /// Deletes live rows of a chunk, in ascending order, column by column. No savepoint is open.
  private func delete(_ table: TableState, _ chunk: Chunk, together rows: [Int]) throws(StorageError) {
    do throws(StorageError) {
      for i in table.indexes.indices {
        if chunk === table.fresh, table.lacksFresh(i) { continue }
        let index = table.indexes[i]
        if index.isWord, !index.linksInside {
          try removeWords(table, i, chunk, rows)
        } else if index.linksInside {
          for row in rows { try removeBacklinks(table, i, chunk.key(at: row), chunk, row) }
        } else {
          for row in rows { try addEntry(table, i, chunk, row, object: chunk.key(at: row), isRemoval: true) }
        }
      }
      for slot in 0..<table.shapes.count where table.traits[slot].form == .bytes {
        try load(table, chunk, slot)
        guard table.traits[slot].isCollection || chunk.hasExternal(slot) else { continue }
        for row in rows { try noteOwnEntries(table, chunk, row, slot, chunk.key(at: row)) }
      }
    } catch {
      // Some entries are removed, and the rows are there.
      isSpoiled = true
      throw StorageError(error.code, .transaction, error.message, remedy: error.remedy, underlyingCode: error.underlyingCode)
    }
    for row in rows { chunk.setLive(row, false) }
    table.liveCount -= rows.count
    noteLife(table, chunk)
  }

  /// Removes the entries of rows from an index of words.
  private func removeWords(_ table: TableState, _ i: Int, _ chunk: Chunk, _ rows: [Int]) throws(StorageError) {
    let (slot, form) = (table.indexes[i].firstSlot, table.indexes[i].firstForm)
    try load(table, chunk, slot)
    var entries: [WordIndexEntry] = []
    entries.reserveCapacity(rows.count)
    let cell = chunk.cells + slot
    for row in rows {
      let word: Int64
      if let column = cell.pointee.edited {
        if column.isNull(row) { continue }
        word = column.words[row]
      } else {
        if cell.pointee.vector.isNull(at: row) { continue }
        word = cell.pointee.vector.word(at: row)
      }
      entries.append(WordIndexEntry(word: IndexKeyCoding.ordinal(word, form), packed: chunk.key(at: row) << 1 | 1))
    }
    edits(table, i).remove(ofDeleted: entries)
  }

  /// Notes an object whose value or list has entries of its own, for removal at the commit.
  private func noteOwnEntries(
    _ table: TableState, _ chunk: Chunk, _ position: Int, _ slot: Int, _ key: Int64
  ) throws(StorageError) {
    try load(table, chunk, slot)
    if chunk.isExternal(slot, position) {
      table.leavingEntries.insert(key)
    } else if table.traits[slot].isCollection, ListValue.isSegmented(try bytes(table, chunk, position, slot)) {
      table.leavingEntries.insert(key)
    }
  }
}
