import StorageInterface
import StoreValues

/// One change of an open write, in the form a savepoint needs to revert it.
enum UndoStep {
  case word(TableState, slot: Int, key: Int64, old: Int64?)
  case bytes(TableState, slot: Int, key: Int64, old: [UInt8]?)
  /// The object became or ceased to be live.
  case life(TableState, key: Int64, wasLiving: Bool)
  case wordEntry(IndexEdits, word: UInt64, object: Int64, wasRemoval: Bool)
  case bytesEntry(IndexEdits, key: [UInt8], object: Int64, wasRemoval: Bool)
  case list(TableState, ListOwner, old: EditedList?)
  /// nil: the write had not touched the entry.
  case side([UInt8], old: SideEdits.Edit?)
  case catalog(CatalogMap, dropped: [IndexReference], hadChanged: Bool)
  /// Those of an index that the next step's catalog dropped.
  case edits(TableState, IndexReference, IndexEdits)
}

extension ColumnWrite {
  func revert(_ step: UndoStep) throws(StorageError) {
    switch step {
    case .word(let table, let slot, let key, let old):
      let (chunk, position) = try stored(table, key)
      try edited(table, chunk, slot).set(position, word: old)
      // The words of fresh rows move when rows are added, and have no place.
      if chunk !== table.fresh { movePlace(ColumnID(table.id, table.shapes[slot].property), chunk, slot) }
    case .bytes(let table, let slot, let key, let old):
      let (chunk, position) = try stored(table, key)
      let column = try edited(table, chunk, slot)
      if let old { old.withUnsafeBytes { column.set(position, bytes: $0) } } else { column.set(position, bytes: nil) }
    case .life(let table, let key, let wasLiving):
      let (chunk, position) = try stored(table, key)
      setLife(table, chunk, position, wasLiving)
      // Vectors made for scans since lack the dead row's bytes.
      if wasLiving { chunk.forgetPresented() }
    case .wordEntry(let edits, let word, let object, let wasRemoval):
      edits.add(word: word, object: object, isRemoval: !wasRemoval)
    case .bytesEntry(let edits, let key, let object, let wasRemoval):
      key.withUnsafeBytes { edits.add(key: $0, object: object, isRemoval: !wasRemoval) }
    case .list(let table, let owner, let old):
      table.lists[owner] = old
    case .side(let key, let old):
      sideEdits?.put(old, key)
    case .catalog(let old, let dropped, let hadChanged):
      map = old
      droppedIndexes = dropped
      hasChangedCatalog = hadChanged
      for table in openTables {
        if let shapes = old.shapes(table.id) {
          table.adopt(shapes)
        } else {
          // Another table may get its number.
          if table.hasNextKey { engine.keepKeys(table.id, below: table.nextKey) }
          forget(table)
        }
      }
    case .edits(let table, let index, let edits):
      if let i = table.indexes.firstIndex(where: { $0.reference == index }) { table.edits[i] = edits }
    }
  }

  private func stored(_ table: TableState, _ key: Int64) throws(StorageError) -> (Chunk, Int) {
    guard let chunk = try chunk(table, key), let position = chunk.storedPosition(of: key) else {
      throw named(.corrupt("an object that a savepoint has touched is gone"), .chunkMap(table.id, table.chunkNumber(of: key)))
    }
    return (chunk, position)
  }

  func setLife(_ table: TableState, _ chunk: Chunk, _ position: Int, _ lives: Bool) {
    chunk.setLive(position, lives)
    table.liveCount += lives ? 1 : -1
    noteLife(table, chunk)
  }

  /// Call after rows of a chunk became or ceased to be live.
  func noteLife(_ table: TableState, _ chunk: Chunk) {
    forgetPlaces(of: table, chunk)
    chunk.isChanged = true
    if chunk === table.fresh { table.changeFresh() }
    table.isChanged = true
  }
}
