import StorageInterface
import StoreValues

extension ColumnWrite {
  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    try checkWritable()
    let table = try table(row.table)
    guard row.count == table.shapes.count else { throw .misuse("The row is of another version of '\(table.entry.name)'.") }
    if row.isOverfull { throw .tooLarge(table.entry.name) }
    let traits = table.traits
    for slot in 0..<row.count {
      let column = traits[slot]
      guard column.isScalar else { continue }
      if row.isNull(slot) {
        if !column.isOptional { throw .mismatch(table.shapes[slot], "null") }
      } else if column.form.isWord {
        if !column.fits(row.word(slot)) { throw .mismatch(table.shapes[slot], "\(row.word(slot))") }
      } else if column.isChecked {
        try check(row.bytes(slot), table.shapes[slot])
      }
    }
    for i in table.indexes.indices where table.indexes[i].isUnique { try checkUnique(table, i, row) }
    findNextKey(table)
    let key = table.nextKey
    let fresh = try freshChunk(table, for: key)
    if isRecordingUndo { try makeFreshEntries(table) }
    for slot in 0..<row.count {
      // Every cell of fresh rows is edited, except inverses, which have none.
      guard let column = fresh.cells[slot].edited else { continue }
      if column.form.isWord {
        column.append(word: normalised(row.word(slot), column.form), isNull: row.isNull(slot))
      } else if traits[slot].isCollection {
        column.append(bytes: UnsafeRawBufferPointer(start: nil, count: 0))
      } else {
        column.append(bytes: row.isNull(slot) ? nil : row.bytes(slot))
      }
    }
    fresh.appendRow(fresh.count, isLive: true)
    table.nextKey = key + 1
    table.liveCount += 1
    table.isChanged = true
    table.isFreshChanged = true
    if isRecordingUndo { undo.append(.life(table, key: key, wasLiving: false)) }
    for i in table.indexes.indices {
      if table.lacksFresh(i) { directIndex = nil } else { addEntry(table, i, row, object: key) }
    }
    return ObjectKey(key)
  }

  @inline(__always) func normalised(_ word: Int64, _ form: ColumnShape.Form) -> Int64 {
    switch form {
    case .bit: word == 0 ? 0 : 1
    case .float: word & 0xFFFF_FFFF
    default: word
    }
  }

  /// The chunk of fresh rows, such that the next position is `key`'s.
  private func freshChunk(_ table: TableState, for key: Int64) throws(StorageError) -> Chunk {
    let number = table.chunkNumber(of: key)
    if let fresh = table.fresh, fresh.number == number {
      while fresh.firstKey + Int64(fresh.count) < key { FreshRows.appendDead(fresh, table.shapes) }
      return fresh
    }
    let reusable = try table.fresh.map { fresh throws(StorageError) in try seal(table, fresh) } ?? []
    let capacity = Int(table.firstKey(of: number + 1) - key)
    let fresh = Chunk(number: number, firstKey: key, capacity: capacity, cellCount: table.shapes.count)
    FreshRows.prepare(fresh, table.shapes, capacity: 16, reusing: reusable)
    table.fresh = fresh
    return fresh
  }

  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    if let word, !isRecordingUndo, let isChanged = setPlaced(column, key.rawValue, word) { return isChanged }
    return try setWord(column, key, word)
  }

  @inline(never) private func setWord(_ column: ColumnID, _ key: ObjectKey, _ word: Int64?) throws(StorageError) -> Bool {
    try checkWritable()
    let table = try table(column.table)
    let slot = try slot(table, column.property, isWord: true)
    let (chunk, position) = try place(table, key)
    let traits = table.traits[slot]
    if let word {
      if !traits.fits(word) { throw .mismatch(table.shapes[slot], "\(word)") }
    } else if !traits.isOptional {
      throw .mismatch(table.shapes[slot], "null")
    }
    let word = word.map { normalised($0, traits.form) }
    let old = try self.word(table, chunk, position, slot)
    if old == word { return false }
    if !table.indexesOfSlot[slot].isEmpty {
      try reindex(table, slot, chunk, position, key.rawValue, newWord: word, newBytes: nil)
    }
    try edited(table, chunk, slot).set(position, word: word)
    if word == nil { movePlace(column, chunk, slot) }
    if isRecordingUndo { undo.append(.word(table, slot: slot, key: key.rawValue, old: old)) }
    return true
  }

  func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    try checkWritable()
    let table = try table(column.table)
    let slot = try slot(table, column.property, isWord: false)
    let (chunk, position) = try place(table, key)
    let shape = table.shapes[slot]
    if let bytes {
      if table.traits[slot].isChecked { try check(bytes, shape) }
      if bytes.count > Int(Int32.max) { throw .tooLarge(table.entry.name) }
    } else if !shape.isOptional {
      throw .mismatch(shape, "null")
    }
    let old = try self.bytes(table, chunk, position, slot)
    switch (old, bytes) {
    case (nil, nil): return false
    case (let old?, let bytes?) where compareBytes(old, bytes) == 0: return false
    default: break
    }
    if !table.indexesOfSlot[slot].isEmpty {
      try reindex(table, slot, chunk, position, key.rawValue, newWord: nil, newBytes: bytes)
    }
    if isRecordingUndo { undo.append(.bytes(table, slot: slot, key: key.rawValue, old: old.map { Array($0) })) }
    try edited(table, chunk, slot).set(position, bytes: bytes)
    return true
  }

  /// Throws for bytes that are not a value of the column's type.
  private func check(_ bytes: UnsafeRawBufferPointer, _ shape: ColumnShape) throws(StorageError) {
    let isValue = shape.type.fixedByteCount.map { bytes.count == $0 } ?? (MixedCoding.decode(bytes) != nil)
    if !isValue { throw .mismatch(shape, "\(bytes.count) bytes") }
  }

  /// The column in editable form.
  @inline(__always) func edited(
    _ table: TableState, _ chunk: Chunk, _ slot: Int
  ) throws(StorageError) -> EditedColumn {
    if chunk === table.fresh { table.changeFresh() }
    chunk.isChanged = true
    table.isChanged = true
    if let column = chunk.cells[slot].edited { return column }
    return try decode(table, chunk, slot)
  }

  private func decode(_ table: TableState, _ chunk: Chunk, _ slot: Int) throws(StorageError) -> EditedColumn {
    try load(table, chunk, slot)
    let column = EditedColumn(form: table.shapes[slot].form, capacity: chunk.count)
    let cell = chunk.cells + slot
    column.load(
      DecodedColumn(vector: cell.pointee.vector, external: cell.pointee.external, scratch: cell.pointee.scratch))
    // `owned` and `scratch` stay, because the column's slices may point into them.
    cell.pointee.edited = column
    cell.pointee.state = .edited
    cell.pointee.isNew = false
    movePlace(ColumnID(table.id, table.shapes[slot].property), chunk, slot)
    return column
  }
}

extension StorageError {
  static func mismatch(_ shape: ColumnShape, _ value: String) -> StorageError {
    StorageError(
      .typeMismatch, .statement, "'\(shape.name)' holds \(shape.isOptional ? "optional " : "")\(shape.type.rawValue), not \(value).")
  }

  static func tooLarge(_ type: String) -> StorageError {
    StorageError(
      .tooLarge, .statement, "A value of '\(type)' is larger than a store can hold.",
      remedy: "Keep it in a file and store its path.")
  }
}
