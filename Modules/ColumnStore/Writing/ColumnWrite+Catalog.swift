import StorageInterface
import StoreValues

extension ColumnWrite {
  func setCatalog(_ catalog: Catalog) throws(StorageError) {
    try checkWritable()
    let catalog = self.catalog.hasSideEntries ? catalog.withSideEntries() : catalog
    if catalog == self.catalog { return }
    if let fault = catalog.fault { throw .misuse("The catalog cannot be stored: \(fault).") }
    let old = map
    if isRecordingUndo {
      // Opened by the old catalog: a table that is first read by the new one does not know of the indexes that go.
      for entry in old.catalog.tables where catalog[entry.id].map({ $0 != entry }) ?? false { _ = try table(entry.id) }
      for table in openTables { try keepEdits(table, unlessIn: catalog) }
      undo.append(.catalog(old, dropped: droppedIndexes, hadChanged: hasChangedCatalog))
    }
    map = CatalogMap(catalog)
    hasChangedCatalog = true
    do throws(StorageError) {
      for entry in catalog.tables {
        if let before = old.table(entry.id) {
          if before != entry { try change(before, to: entry) }
        } else {
          // A table that is created again after a rollback must not see its former cached state.
          try table(entry.id).adopt(TableShapes(entry))
        }
      }
    } catch {
      isSpoiled = true
      throw StorageError(
        error.code, .transaction, error.message, remedy: error.remedy, underlyingCode: error.underlyingCode,
        index: error.index, conflictingKey: error.conflictingKey)
    }
  }

  /// Keeps the edits of the indexes that a catalog does not have, for an undo. The entries of fresh rows are among them, because these
  /// rows may be in a chunk by then.
  private func keepEdits(_ table: TableState, unlessIn catalog: Catalog) throws(StorageError) {
    let left = catalog[table.id].map { TableShapes($0).indexes.map(\.reference) } ?? []
    for i in table.indexes.indices where !left.contains(table.indexes[i].reference) {
      if table.lacksFresh(i) { try makeFreshEntries(table, i) }
      if let edits = table.edits[i] { undo.append(.edits(table, table.indexes[i].reference, edits)) }
    }
  }

  private func change(_ before: TableEntry, to entry: TableEntry) throws(StorageError) {
    let table = try table(entry.id)
    table.adopt(TableShapes(entry))
    for index in before.indexes where !entry.indexes.contains(index) { droppedIndexes.append(.index(index.id)) }
    for index in before.textIndexes where !entry.textIndexes.contains(index) { droppedIndexes.append(.index(index.id)) }
    let added = entry.indexes.filter { !before.indexes.contains($0) }.map(\.id)
      + entry.textIndexes.filter { !before.textIndexes.contains($0) }.map(\.id)
    guard !added.isEmpty, table.liveCount > 0 else { return }
    let positions = table.indexes.indices.filter { i in added.contains { .index($0) == table.indexes[i].reference } }
    try fill(table, positions)
  }

  /// Adds the entries of new indexes for the existing rows.
  private func fill(_ table: TableState, _ positions: [Int]) throws(StorageError) {
    for number in try chunkNumbers(table) {
      if let chunk = try chunk(table, number: number) { try fill(table, chunk, positions) }
    }
    for i in positions where table.lacksFresh(i) { try makeFreshEntries(table, i) }
    if let fresh = table.fresh { try fill(table, fresh, positions.filter { !table.leavesOut($0) }) }
    for i in positions where table.indexes[i].isUnique {
      let index = table.indexes[i]
      let pair = edits(table, i).duplicate { IndexKeyCoding.hasNull($0, index, table.shapes) }
      if let pair { throw violation(table, i, pair.0, .transaction) }
    }
  }

  private func fill(_ table: TableState, _ chunk: Chunk, _ positions: [Int]) throws(StorageError) {
    for position in 0..<chunk.count where Bits.test(chunk.live, position) {
      for i in positions {
        try addEntry(table, i, chunk, position, object: chunk.key(at: position), isRemoval: false)
      }
    }
  }

  func dropIndexes(_ batch: inout KeyValueBatch) throws(StorageError) {
    for index in droppedIndexes {
      let prefix = EntryKey.blockPrefix(index).bytes
      var keys: [[UInt8]] = []
      try prefix.lend { from throws(StorageError) in
        try snapshot.visitKeys(within: from) { key in
          keys.append(Array(key))
          return .proceed
        }
      }
      for key in keys { key.withUnsafeBytes { batch.append(key: $0, value: nil) } }
      batch.delete(.indexRecord(index))
    }
  }
}

extension IndexKeyCoding {
  /// Whether a component of a byte key is null.
  static func hasNull(_ key: UnsafeRawBufferPointer, _ index: IndexShape, _ shapes: [ColumnShape]) -> Bool {
    var at = 0
    for slot in index.slots {
      let shape = shapes[slot]
      if shape.isOptional {
        guard at < key.count, key[at] != 0 else { return true }
        at += 1
      }
      switch shape.form {
      case .fixed16 where shape.type == .uuid: at += 16
      case .bytes, .fixed16:
        while at + 1 < key.count, !(key[at] == 0 && key[at + 1] == 0) { at += key[at] == 0 ? 2 : 1 }
        at += 2
      default: at += 8
      }
    }
    return false
  }
}
