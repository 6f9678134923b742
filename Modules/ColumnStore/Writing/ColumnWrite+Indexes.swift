import QueryModel
import StorageInterface
import StoreValues

extension ColumnWrite {
  /// Makes the entries of the fresh rows in all indexes that lack them: before they become rows of a chunk, or before a change that
  /// a savepoint can undo, which it does entry by entry.
  func makeFreshEntries(_ table: TableState) throws(StorageError) {
    for i in table.indexes.indices where table.lacksFresh(i) { try makeFreshEntries(table, i) }
  }

  @inline(__always) func edits(_ table: TableState, _ position: Int) -> IndexEdits {
    if let edits = table.edits[position] { return edits }
    let edits = IndexEdits.make(table.indexes[position])
    table.edits[position] = edits
    directIndex = nil
    return edits
  }

  @inline(__always) func add(_ edits: IndexEdits, word: UInt64, object: Int64, isRemoval: Bool) {
    edits.add(word: word, object: object, isRemoval: isRemoval)
    if isRecordingUndo { undo.append(.wordEntry(edits, word: word, object: object, wasRemoval: isRemoval)) }
  }

  /// Adds the key in `keyBuffer`.
  func addKey(_ edits: IndexEdits, object: Int64, isRemoval: Bool) {
    keyBuffer.withUnsafeBytes { edits.add(key: $0, object: object, isRemoval: isRemoval) }
    if isRecordingUndo { undo.append(.bytesEntry(edits, key: keyBuffer, object: object, wasRemoval: isRemoval)) }
  }

  /// Adds the entry of a new row.
  @inline(__always) func addEntry(_ table: TableState, _ position: Int, _ row: RowBuffer, object: Int64) {
    let index = table.indexes[position]
    if index.isWord {
      let (slot, form) = (index.firstSlot, index.firstForm)
      if row.isNull(slot) { return }
      if !table.traits[slot].linksByWord {
        if table.traits[slot].isScalar { link(mixed: row.bytes(slot), table, position, object, isRemoval: false) }
        return
      }
      add(
        edits(table, position), word: IndexKeyCoding.ordinal(normalised(row.word(slot), form), form),
        object: object, isRemoval: false)
      return
    }
    if index.isOfText {
      if !row.isNull(index.firstSlot) { add(words: TextWords.all(in: row.bytes(index.firstSlot)), table, position, object, isRemoval: false) }
      return
    }
    _ = makeKey(table, index, row)
    addKey(edits(table, position), object: object, isRemoval: false)
  }

  /// Writes the key of a new row to `keyBuffer`; returns whether a component is null.
  private func makeKey(_ table: TableState, _ index: IndexShape, _ row: RowBuffer) -> Bool {
    keyBuffer.removeAll(keepingCapacity: true)
    var hasNull = false
    for slot in index.slots {
      let shape = table.shapes[slot]
      if row.isNull(slot) {
        hasNull = true
        IndexKeyCoding.appendNull(to: &keyBuffer)
      } else if shape.form.isWord {
        IndexKeyCoding.append(word: normalised(row.word(slot), shape.form), shape, to: &keyBuffer)
      } else {
        IndexKeyCoding.append(bytes: row.bytes(slot), shape, to: &keyBuffer)
      }
    }
    return hasNull
  }

  /// Writes the key of a stored row to `keyBuffer`, with a new value for slot `replaced` if given; returns whether a component
  /// is null.
  private func makeKey(
    _ table: TableState, _ index: IndexShape, _ chunk: Chunk, _ position: Int, replacing replaced: Int? = nil,
    newWord: Int64? = nil, newBytes: UnsafeRawBufferPointer? = nil
  ) throws(StorageError) -> Bool {
    keyBuffer.removeAll(keepingCapacity: true)
    return try appendKey(
      table, index, chunk, position, replacing: replaced, newWord: newWord, newBytes: newBytes, to: &keyBuffer)
  }

  /// Adds or removes the backlinks of a mixed scalar's value.
  func link(
    mixed bytes: UnsafeRawBufferPointer?, _ table: TableState, _ i: Int, _ object: Int64, isRemoval: Bool
  ) {
    // Most values are not links, which their first byte shows.
    guard let first = bytes?.first, first >= MixedCoding.Tag.link.rawValue, let value = bytes.flatMap(MixedCoding.decode)
    else { return }
    for link in value.links {
      add(edits(table, i), word: UInt64(bitPattern: link.word) ^ (1 << 63), object: object, isRemoval: isRemoval)
    }
  }

  /// Adds or removes the entry of a stored row.
  func addEntry(
    _ table: TableState, _ i: Int, _ chunk: Chunk, _ position: Int, object: Int64, isRemoval: Bool
  ) throws(StorageError) {
    let index = table.indexes[i]
    if index.isWord {
      guard let word = try word(table, chunk, position, index.firstSlot) else { return }
      add(edits(table, i), word: IndexKeyCoding.ordinal(word, index.firstForm), object: object, isRemoval: isRemoval)
      return
    }
    if index.isOfText {
      let text = try bytes(table, chunk, position, index.firstSlot)
      if let text { add(words: TextWords.all(in: text), table, i, object, isRemoval: isRemoval) }
      return
    }
    _ = try makeKey(table, index, chunk, position)
    addKey(edits(table, i), object: object, isRemoval: isRemoval)
  }

  /// Moves the index entries of a row from its stored value of `slot` to a new one. Throws before it changes anything.
  func reindex(
    _ table: TableState, _ slot: Int, _ chunk: Chunk, _ position: Int, _ object: Int64, newWord: Int64?,
    newBytes: UnsafeRawBufferPointer?
  ) throws(StorageError) {
    let affected = table.indexesOfSlot[slot]
    let isFresh = chunk === table.fresh
    if isFresh, isRecordingUndo { for i in affected where table.lacksFresh(i) { try makeFreshEntries(table, i) } }
    for i in affected where table.indexes[i].isUnique {
      let index = table.indexes[i]
      if index.isWord {
        if let newWord { try checkUnique(table, i, word: IndexKeyCoding.ordinal(newWord, table.shapes[slot].form), except: object) }
      } else if try !makeKey(
        table, index, chunk, position, replacing: slot, newWord: newWord, newBytes: newBytes)
      {
        try checkUniqueKey(table, i, except: object)
      }
    }
    for i in affected {
      if isFresh, table.lacksFresh(i) { continue }
      if table.indexes[i].linksInside {
        link(mixed: try bytes(table, chunk, position, slot), table, i, object, isRemoval: true)
        link(mixed: newBytes, table, i, object, isRemoval: false)
        continue
      }
      if table.indexes[i].isOfText {
        reword(table, i, object, from: try bytes(table, chunk, position, slot), to: newBytes)
        continue
      }
      try addEntry(table, i, chunk, position, object: object, isRemoval: true)
      let index = table.indexes[i]
      if index.isWord {
        guard let newWord else { continue }
        add(
          edits(table, i), word: IndexKeyCoding.ordinal(newWord, table.shapes[slot].form), object: object,
          isRemoval: false)
      } else {
        _ = try makeKey(table, index, chunk, position, replacing: slot, newWord: newWord, newBytes: newBytes)
        addKey(edits(table, i), object: object, isRemoval: false)
      }
    }
  }

  @inline(__always) func checkUnique(_ table: TableState, _ i: Int, _ row: RowBuffer) throws(StorageError) {
    let index = table.indexes[i]
    if index.isWord {
      let form = index.firstForm
      try checkUnique(
        table, i, word: IndexKeyCoding.ordinal(normalised(row.word(index.firstSlot), form), form), except: nil)
    } else if !makeKey(table, index, row) {
      try checkUniqueKey(table, i, except: nil)
    }
  }

  private func checkUnique(
    _ table: TableState, _ i: Int, word: UInt64, except own: Int64?
  ) throws(StorageError) {
    if let fresh = table.fresh, table.lacksFresh(i) {
      let index = table.indexes[i]
      if index.firstForm != .integer || fresh.count > ColumnReading.freshScanMax {
        _ = try edits(of: table, i)
      } else if let other = ColumnReading.object(ofWord: word, fresh, index.firstSlot, except: own) {
        throw violation(table, i, other)
      }
    }
    guard let edits = table.edits[i], edits.mayHaveTouched(word: word) else {
      if let other = try storedObject(ofWord: word, table, i), other != own { throw violation(table, i, other) }
      return
    }
    keyBuffer.removeAll(keepingCapacity: true)
    IndexKeyCoding.append(ordinal: word, to: &keyBuffer)
    try checkEdited(table, i, except: own)
  }

  /// Looks up the key in `keyBuffer`. Keys with a null component never conflict.
  private func checkUniqueKey(_ table: TableState, _ i: Int, except own: Int64?) throws(StorageError) {
    let edits = try edits(of: table, i)
    let isTouched = keyBuffer.withUnsafeBytes { edits?.mayHaveTouched(key: $0) } ?? false
    if !isTouched, try reader(table, i).fences.count == 0 { return }
    try checkEdited(table, i, except: own)
  }

  private func checkEdited(_ table: TableState, _ i: Int, except own: Int64?) throws(StorageError) {
    var other: Int64?
    try objects(
      table, i, IndexCut(bytes: keyBuffer, isAfter: false), IndexCut(bytes: keyBuffer, isAfter: true),
      descending: false
    ) { objects in
      other = objects.first { $0 != own }
      return other == nil ? .proceed : .stop
    }
    if let other { throw violation(table, i, other) }
  }

  func violation(
    _ table: TableState, _ i: Int, _ other: Int64, _ scope: StorageError.Scope = .statement
  ) -> StorageError {
    let names = table.indexes[i].slots.map { "'\(table.shapes[$0].name)'" }.joined(separator: ", ")
    var id: IndexID?
    if case .index(let index) = table.indexes[i].reference { id = index }
    return StorageError(
      .uniqueViolation, scope, "Another object of type '\(table.entry.name)' has the same \(names).",
      remedy: "Change the object there is, or choose another value.", index: id, conflictingKey: ObjectKey(other))
  }
}
