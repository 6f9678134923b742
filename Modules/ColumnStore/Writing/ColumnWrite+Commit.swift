import StorageInterface
import StoreValues

extension ColumnWrite {
  /// Collects everything this write changes in one sorted batch.
  func makeBatch(_ history: NewHistory) throws(StorageError) -> KeyValueBatch {
    let next = history.version
    var batch = KeyValueBatch(version: next)
    if hasChangedCatalog {
      batch.put(.catalog, try ColumnReading.encode(catalog, version: next))
      let format = catalog.formatNeeded
      if let bytes = try value(.header) {
        let header = try decoding(.header) { () throws(StorageError) in try FileHeader(bytes) }
        if header.format < format { batch.put(.header, engine.header.encoded(format: format)) }
      }
      try dropIndexes(&batch)
    }
    var written = TouchedChunks()
    for table in openTables {
      for (place, list) in table.lists { try store(list, place, table, &batch) }
      try removeOwnEntries(table, &batch)
      try storeFreshRows(table, &batch)
      try storeChunks(table, next, &batch, &written)
      for i in table.indexes.indices {
        let end = table.endOfEntries(i)
        guard let edits = table.edits[i], edits.mayChange(below: end) else { continue }
        let merged = try edits.merge(
          below: end, into: reader(table, i), version: next.rawValue, blockLimit: engine.header.blockLimit, &batch)
        guard let merged else { continue }
        let key = EntryKey.indexRecord(table.indexes[i].reference)
        batch.put(key, try decoding(key) { () throws(StorageError) in try merged.encoded() })
      }
      if table.isChanged {
        let key = EntryKey.table(.tableRecord, table.id)
        batch.put(key, try decoding(key) { () throws(StorageError) in try table.encodedRecord() })
      }
    }
    sideEdits?.forEach { key, value in key.lendSide { batch.append(key: $0, value: value) } }
    switch history {
    case .next(let record, _): try store(record, written, version: next.rawValue, &batch)
    case .adopted(let records, _): try store(adopted: records, &batch)
    }
    batch.sort()
    return batch
  }

  private func storeFreshRows(_ table: TableState, _ batch: inout KeyValueBatch) throws(StorageError) {
    guard table.isFreshChanged else { return }
    if let fresh = table.fresh {
      if fresh.liveCount == 0 {
        table.fresh = nil
      } else if !hasLongKeys(table, fresh),
        let rows = FreshRows.encode(fresh, table.shapes, limit: engine.header.freshLimit, stored: table.storedFresh)
      {
        encodedFresh.append((table.id, rows))
        for slot in table.shapes.indices {
          guard let column = fresh.cells[slot].edited, column.form == .bytes else { continue }
          storeLongValues(table, fresh, slot, column, isFresh: true, &batch)
        }
        return batch.put(.table(.freshRows, table.id), rows)
      } else {
        _ = try seal(table, fresh)
      }
    }
    if table.isFreshStored { batch.delete(.table(.freshRows, table.id)) }
  }

  /// Whether the indexes that lack the fresh rows would have more of long values than there may be of the rows themselves: who asks such an
  /// index reads them, and each is in an entry of its own. Of one that an earlier commit stored the length is not known; it is longer than
  /// `inlineMax`, and was not too long when it came.
  private func hasLongKeys(_ table: TableState, _ fresh: Chunk) -> Bool {
    var bytes = 0
    for i in table.indexes.indices where table.leavesOut(i) {
      for slot in table.indexes[i].slots {
        guard let column = fresh.cells[slot].edited, column.form == .bytes else { continue }
        for row in 0..<column.count where Bits.test(fresh.live, row) && !column.isNull(row) {
          let count = column.isExternal(row) ? ExternalValues.inlineMax + 1 : column.slices[row].count
          if count > ExternalValues.inlineMax { bytes += count }
        }
      }
    }
    return bytes > engine.header.freshLimit
  }

  private func storeChunks(
    _ table: TableState, _ next: Version, _ batch: inout KeyValueBatch, _ written: inout TouchedChunks
  ) throws(StorageError) {
    var hasMoved = !table.addedNumbers.isEmpty
    var whole: [ClosedRange<Int64>] = []
    var columns = [[ClosedRange<Int64>]](repeating: [], count: table.shapes.count)
    for chunk in table.chunks.values where chunk.isChanged {
      let number = chunk.number...chunk.number
      if chunk.liveCount == 0 {
        remove(table, chunk, &batch)
        whole.append(number)
        hasMoved = true
        continue
      }
      try compact(table, chunk)
      if chunk.isMapChanged { whole.append(number) }
      for slot in table.shapes.indices {
        let key = EntryKey.column(table.id, table.shapes[slot].property, chunk.number)
        if let column = chunk.cells[slot].edited {
          batch.put(key, encode(table, chunk, slot, column, &batch))
          if !chunk.isMapChanged { columns[slot].append(number) }
        } else if chunk.cells[slot].isNew, let encoded = chunk.cells[slot].owned {
          batch.put(key, encoded)
          if !chunk.isMapChanged { columns[slot].append(number) }
        }
      }
      if chunk.isMapChanged { batch.put(.chunkMap(table.id, chunk.number), ChunkMap.encode(chunk)) }
    }
    written.insert(table.id, whole)
    for slot in table.shapes.indices { written.insert(ColumnID(table.id, table.shapes[slot].property), columns[slot]) }
    if hasMoved { table.directoryVersion = next.rawValue }
  }

  private func remove(_ table: TableState, _ chunk: Chunk, _ batch: inout KeyValueBatch) {
    guard chunk.isStored else { return }
    batch.delete(.chunkMap(table.id, chunk.number))
    for shape in table.shapes where shape.form != .none {
      batch.delete(.column(table.id, shape.property, chunk.number))
    }
  }

  private func encode(
    _ table: TableState, _ chunk: Chunk, _ slot: Int, _ column: EditedColumn, _ batch: inout KeyValueBatch
  ) -> ValueBuffer {
    guard column.form == .bytes, column.hasLongValues || column.hasExternal else { return ColumnEncoder.encode(column) }
    let external = storeLongValues(table, chunk, slot, column, isFresh: false, &batch)
    return external.withUnsafeBufferPointer { external in
      // At least one word, as a column has rows.
      ColumnEncoder.encode(
        slices: column.slices, nulls: column.nulls, nullCount: column.nullCount,
        external: external.baseAddress.unsafelyUnwrapped, externalCount: Bits.population(external.baseAddress.unsafelyUnwrapped, column.count),
        count: column.count)
    }
  }

  /// Moves changed long values to entries of their own and removes those of values that are short now. Returns which rows have
  /// one.
  @discardableResult
  private func storeLongValues(
    _ table: TableState, _ chunk: Chunk, _ slot: Int, _ column: EditedColumn, isFresh: Bool,
    _ batch: inout KeyValueBatch
  ) -> [UInt64] {
    var result = [UInt64](repeating: 0, count: Bits.wordCount(column.count) + 1)
    guard column.form == .bytes else { return result }
    // Fresh rows have a limit of their own.
    let inlineMax = isFresh ? ExternalValues.inlineMax : column.inlineMax
    for row in 0..<column.count {
      let wasExternal = Bits.test(column.external, row)
      let isLong = column.isExternal(row) || (!column.isNull(row) && column.slices[row].count > inlineMax)
      if isLong { result[row >> 6] |= 1 << UInt64(row & 63) }
      // An unchanged value may have to leave the chunk because others have grown.
      guard Bits.test(column.changed, row) || (isLong && !wasExternal), Bits.test(chunk.live, row) else { continue }
      let key = EntryKey.externalValue(table.id, table.shapes[slot].property, chunk.key(at: row))
      if isLong { batch.put(key, ValueBuffer(copying: column.slices[row])) } else if wasExternal { batch.delete(key) }
    }
    return result
  }

  /// Removes the long values and list segments of objects that were deleted.
  private func removeOwnEntries(_ table: TableState, _ batch: inout KeyValueBatch) throws(StorageError) {
    for key in table.leavingEntries {
      guard let chunk = try chunk(table, key), let position = chunk.storedPosition(of: key),
        !Bits.test(chunk.live, position)
      else { continue }
      for slot in table.shapes.indices where table.shapes[slot].form == .bytes {
        try load(table, chunk, slot)
        if chunk.isExternal(slot, position) {
          batch.delete(.externalValue(table.id, table.shapes[slot].property, key))
        } else if table.shapes[slot].isCollection, table.lists[ListOwner(slot: slot, owner: key)] == nil,
          ListValue.isSegmented(try bytes(table, chunk, position, slot))
        {
          try removeSegments(table, slot, key, &batch)
        }
      }
    }
  }

  private func removeSegments(
    _ table: TableState, _ slot: Int, _ owner: Int64, _ batch: inout KeyValueBatch
  ) throws(StorageError) {
    let property = table.shapes[slot].property
    guard let directory = try value(.listSegment(table.id, property, owner, 0)), let start = directory.baseAddress else {
      return
    }
    for i in 0..<directory.count / 8 { batch.delete(.listSegment(table.id, property, owner, start.number(i * 8))) }
    batch.delete(.listSegment(table.id, property, owner, 0))
  }

  private func store(
    _ list: EditedList, _ place: ListOwner, _ table: TableState, _ batch: inout KeyValueBatch
  ) throws(StorageError) {
    guard let chunk = try chunk(table, place.owner), let position = chunk.position(of: place.owner) else {
      if list.isStoredInSegments { try removeSegments(table, place.slot, place.owner, &batch) }
      return
    }
    let column = try edited(table, chunk, place.slot)
    if list.count <= ListValue.inlineElementsMax, let short = try ListValue.encodeShort(whole(list, place, table)) {
      if list.isStoredInSegments { try removeSegments(table, place.slot, place.owner, &batch) }
      short.withUnsafeBytes { column.set(position, bytes: $0) }
      return
    }
    let property = table.shapes[place.slot].property
    var list = list
    for i in list.segments.indices {
      if list.segments[i].id == 0 {
        guard list.nextSegment < .max else {
          throw named(.corrupt("a list has used up the numbers of its segments"), .listSegment(table.id, property, place.owner, 0))
        }
        list.segments[i].id = list.nextSegment
        list.nextSegment += 1
      } else if !list.segments[i].isChanged {
        continue
      }
      guard let run = list.segments[i].run else { continue }
      batch.put(.listSegment(table.id, property, place.owner, list.segments[i].id), run.encoded())
    }
    for id in list.dropped { batch.delete(.listSegment(table.id, property, place.owner, id)) }
    batch.put(.listSegment(table.id, property, place.owner, 0), SegmentDirectory.encode(list.segments))
    ListValue.encodeSegmented(count: list.count, nextSegment: list.nextSegment).withUnsafeBytes {
      column.set(position, bytes: $0)
    }
  }

  private func whole(
    _ list: EditedList, _ place: ListOwner, _ table: TableState
  ) throws(StorageError) -> ElementRun {
    var result = ElementRun(form: list.form)
    for segment in list.segments {
      if let run = segment.run {
        result.append(run)
      } else {
        result.append(ElementRun(try self.segment(table, place.slot, place.owner, segment).vector, form: list.form))
      }
    }
    return result
  }

  private func store(
    _ record: CommitRecord, _ written: TouchedChunks, version now: UInt64, _ batch: inout KeyValueBatch
  ) throws(StorageError) {
    var touched = TouchedChunks()
    if !written.tables.isEmpty || engine.image.isAsked {
      // Readers of decoded chunks rely on the record for which were written; chunks that it does not cover are appended to it.
      touched = TouchedChunks(of: record, rowsPerChunk: engine.header.rowsPerChunk)
      self.touched = touched
    }
    let unnamed = hasChangedCatalog && !record.changedCatalog ? .everything : written.subtracting(touched)
    self.touched?.formUnion(unnamed)
    batch.put(.history(now), ValueBuffer(record.encoded() + unnamed.encoded))
    // Old records are far from what a small commit writes otherwise: they go many at a time, and not with each commit.
    let step = ColumnWrite.trimmingStep(engine.historyLimit)
    guard now > engine.historyLimit, now % step == 0 else { return }
    // More than came since, but not all at once, if the limit was lowered.
    for number in try recordedVersions(upTo: now - engine.historyLimit, most: 64 + 16 * Int(step)) { batch.delete(.history(number)) }
  }

  /// How many commits share one removal of old records: up to 64, and so few that the history exceeds its limit by less than a
  /// hundredth.
  static func trimmingStep(_ limit: UInt64) -> UInt64 { min(max(limit / 100, 1), 64) }

  /// Replaces the history with that of another store.
  private func store(adopted records: [CommitRecord], _ batch: inout KeyValueBatch) throws(StorageError) {
    let kept = records.suffix(Int(clamping: max(1, engine.historyLimit)))
    for number in try recordedVersions(upTo: .max, most: .max) where kept.first.map({ number < $0.version.rawValue }) ?? true {
      batch.delete(.history(number))
    }
    // The records describe writes to another store.
    for record in kept {
      batch.put(.history(record.version.rawValue), ValueBuffer(record.encoded() + TouchedChunks.everything.encoded))
    }
  }

  /// The versions whose records are kept, oldest first.
  private func recordedVersions(upTo last: UInt64, most: Int) throws(StorageError) -> [UInt64] {
    var found: [UInt64] = []
    try EntryKey.history(0).withBytes { from throws(StorageError) in
      try snapshot.visitKeys(from: from, sharing: 1, reverse: false) { key in
        guard key.count == 9, found.count < most else { return .stop }
        let number = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        guard number <= last else { return .stop }
        found.append(number)
        return .proceed
      }
    }
    return found
  }

  /// A commit's addition to the history.
  enum NewHistory {
    case next(CommitRecord, version: Version)
    case adopted([CommitRecord], version: Version)

    /// The version that the commit makes.
    var version: Version {
      switch self {
      case .next(_, let version), .adopted(_, let version): version
      }
    }
  }
}

extension KeyValueBatch {
  mutating func put(_ key: EntryKey, _ value: ValueBuffer) { key.withBytes { append(key: $0, value: value) } }
  mutating func delete(_ key: EntryKey) { key.withBytes { append(key: $0, value: nil) } }
}
