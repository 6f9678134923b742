import StorageInterface
import StoreValues

extension ColumnReading {
  final func count(_ table: TableID) throws(StorageError) -> Int {
    try checkOpen()
    let table = try self.table(table)
    if table.liveCount > ColumnReading.uncheckedCountMax, !table.isCountChecked { try checkCount(table) }
    // Negative if more objects were deleted than a damaged record counts; the commit rejects that.
    return max(0, table.liveCount)
  }

  /// Counts up to this are trusted without a check.
  private static let uncheckedCountMax = 1 << 18

  /// Checks that a table counts no more objects than its chunks have rows, because callers allocate by the count. Done once,
  /// for large tables.
  private final func checkCount(_ table: TableState) throws(StorageError) {
    // There are few chunks, and their numbers are in memory.
    let places = try chunkNumbers(table).count * table.rowsPerChunk + (table.fresh?.count ?? 0)
    guard table.liveCount <= places else {
      throw named(.corrupt("a table counts more objects than it has room for"), .table(.tableRecord, table.id))
    }
    table.isCountChecked = true
  }

  final func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool {
    try checkOpen()
    return try chunk(self.table(table), key.rawValue)?.position(of: key.rawValue) != nil
  }

  final func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    if let word = placedWord(column, key.rawValue) { return word }
    return try findWord(column, key)
  }

  @inline(never) private final func findWord(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    try checkOpen()
    let table = try table(column.table)
    let slot = try slot(table, column.property, isWord: true)
    let (chunk, position) = try place(table, key)
    let word = try word(table, chunk, position, slot)
    keepPlace(column, table, chunk, slot)
    return word
  }

  final func words(
    _ column: ColumnID, of keys: UnsafeBufferPointer<Int64>, into words: UnsafeMutablePointer<Int64>,
    nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError) {
    try checkOpen()
    let table = try table(column.table)
    let slot = try slot(table, column.property, isWord: true)
    let lanes = try lanes(table, rows: keys.count)
    var i = 0
    while i < keys.count {
      if let lanes {
        i = try self.words(lanes, table, slot, keys, from: i, words, nulls)
        if i == keys.count { return }
      }
      let (chunk, _) = try place(table, ObjectKey(keys[i]))
      try load(table, chunk, slot)
      i = wordsOfChunk(chunk, chunk.cells + slot, keys, from: i, words, nulls)
    }
  }

  /// Reads the keys from position `start` on up to the first that is not live in the chunk; at least one. Returns its position.
  private final func wordsOfChunk(
    _ chunk: Chunk, _ cell: UnsafePointer<ColumnCell>, _ keys: UnsafeBufferPointer<Int64>, from start: Int,
    _ words: UnsafeMutablePointer<Int64>, _ nulls: UnsafeMutablePointer<Bool>
  ) -> Int {
    var i = start
    if let column = cell.pointee.edited {
      while i < keys.count, let position = chunk.position(of: keys[i]) {
        nulls[i] = column.isNull(position)
        words[i] = nulls[i] ? 0 : column.words[position]
        i &+= 1
      }
      return i
    }
    let vector = cell.pointee.vector
    while i < keys.count, let position = chunk.position(of: keys[i]) {
      nulls[i] = vector.isNull(at: position)
      words[i] = nulls[i] ? 0 : vector.word(at: position)
      i &+= 1
    }
    return i
  }

  final func bytes(
    _ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    let table = try table(column.table)
    let slot = try slot(table, column.property, isWord: false)
    let (chunk, position) = try place(table, key)
    body(try bytes(table, chunk, position, slot))
  }

  final func window(_ column: ColumnID, containing key: ObjectKey) throws(StorageError) -> ColumnWindow? {
    try checkOpen()
    let table = try table(column.table)
    guard let slot = table.slot(column.property), table.traits[slot].isScalar else {
      throw .misuse("Table '\(table.entry.name)' has no scalar column \(column.property.rawValue).")
    }
    guard let chunk = try chunk(table, key.rawValue), let position = chunk.position(of: key.rawValue) else { return nil }
    if table.shapes[slot].form == .bytes {
      try load(table, chunk, slot)
      // Only this value: those of the whole chunk may be gigabytes.
      if chunk.hasExternal(slot) {
        let bytes = try bytes(table, chunk, position, slot)
        let row = ColumnVector(
          layout: .constantBytes, count: 1, base: Int64(bytes?.count ?? 0),
          values: bytes?.baseAddress ?? UnsafeRawPointer(Bits.allSet), nulls: bytes == nil ? Bits.allSet : nil)
        return ColumnWindow(firstKey: key.rawValue, live: nil, vector: row)
      }
    }
    let vector = try vector(table, chunk, slot)
    if !chunk.isSparse {
      return ColumnWindow(firstKey: chunk.firstKey, live: chunk.isFull ? nil : UnsafePointer(chunk.live), vector: vector)
    }
    let nulls = vector.isNull(at: position) ? Bits.allSet : nil
    let row: ColumnVector
    if table.shapes[slot].form.isWord {
      row = ColumnVector(
        layout: .constantWord, count: 1, base: vector.word(at: position), values: vector.values, nulls: nulls)
    } else {
      let bytes = vector.bytes(at: position)
      row = ColumnVector(
        layout: .constantBytes, count: 1, base: Int64(bytes.count), values: bytes.baseAddress ?? vector.values,
        nulls: nulls)
    }
    return ColumnWindow(firstKey: key.rawValue, live: nil, vector: row)
  }

  final func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    let table = try self.table(table)
    var slots: [Int] = []
    for property in columns {
      guard let slot = table.slot(property), table.shapes[slot].isScalar else {
        throw .misuse("Table '\(table.entry.name)' has no scalar column \(property.rawValue).")
      }
      slots.append(slot)
    }
    let asked = AskedColumns(slots, hints, table)
    let vectors = UnsafeMutablePointer<ColumnVector>.allocate(capacity: max(slots.count, 1))
    defer { vectors.deallocate() }
    if start.rawValue <= 1, let lanes = try lanes(table, asked) {
      if try scan(lanes, table, asked, vectors, body) == .stop { return }
      if let fresh = table.fresh { _ = try visit(table, fresh, asked, vectors, start.rawValue, body) }
      return
    }
    let numbers = try chunkNumbers(table)
    let first = table.chunkNumber(of: max(start.rawValue, 1))
    var i = numbers.partitionPoint { $0 < first }
    while i < numbers.count {
      if let chunk = try chunk(table, number: numbers[i]),
        try visit(table, chunk, asked, vectors, start.rawValue, body) == .stop
      {
        return
      }
      i += 1
    }
    if let fresh = table.fresh { _ = try visit(table, fresh, asked, vectors, start.rawValue, body) }
  }

  /// The numbers of all chunks but the fresh one, ascending.
  final func chunkNumbers(_ table: TableState) throws(StorageError) -> [Int64] {
    if table.directory == nil {
      table.directory = try engine.structures.directory(table.id, version: table.directoryVersion, snapshot)
    }
    let stored = table.directory?.numbers ?? []
    return table.addedNumbers.isEmpty ? stored : stored + table.addedNumbers
  }

  final func visit(
    _ table: TableState, _ chunk: Chunk, _ asked: AskedColumns, _ space: UnsafeMutablePointer<ColumnVector>, _ start: Int64,
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) -> Step {
    let slots = asked.slots
    guard chunk.liveCount > 0 else { return .proceed }
    let from = chunk.firstPosition(from: start)
    guard from < chunk.count else { return .proceed }
    for zone in asked.zones {
      try load(table, chunk, zone.slot)
      // In place: copying the vector would cost more than reading it.
      let cell = chunk.cells + zone.slot
      guard cell.pointee.state == .encoded, table.traits[zone.slot].form.isWord else { continue }
      if cell.pointee.vector.min > zone.to || cell.pointee.vector.max < zone.from { return .proceed }
    }
    if asked.hasBytes {
      let long = try slotsInPieces(table, chunk, asked.valued)
      if !long.isEmpty { return try visitPieces(table, chunk, slots, long, space, from, body) }
    }
    for i in 0..<slots.count {
      let slot = slots[i]
      (space + i).initialize(to: asked.isOfNulls(i) ? try presence(table, chunk, slot) : try vector(table, chunk, slot))
    }
    let vectors = UnsafeBufferPointer(start: space, count: slots.count)
    var live: UnsafePointer<UInt64>? = chunk.isFull ? nil : UnsafePointer(chunk.live)
    if from > 0 {
      // Rows before the start become holes; this happens once per scan.
      let words = Bits.wordCount(chunk.count)
      return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: words) { masked in
        for i in 0..<words {
          let first = i * 64
          let word = chunk.live[i]
          masked[i] = from >= first + 64 ? 0 : from <= first ? word : word & (UInt64.max << UInt64(from - first))
        }
        live = UnsafePointer(masked.baseAddress)
        return body(
          ColumnBatch(
            firstKey: ObjectKey(chunk.firstKey), keys: chunk.keys(), count: chunk.count, live: live, columns: vectors))
      }
    }
    return body(
      ColumnBatch(
        firstKey: ObjectKey(chunk.firstKey), keys: chunk.keys(), count: chunk.count, live: live, columns: vectors))
  }
}

extension ColumnReading {
  /// A column of nulls and empty values. Reads no byte of a string.
  final func presence(_ table: TableState, _ chunk: Chunk, _ slot: Int) throws(StorageError) -> ColumnVector {
    guard table.shapes[slot].form == .bytes else { return try vector(table, chunk, slot) }
    try load(table, chunk, slot)
    let cell = chunk.cells + slot
    var nulls = cell.pointee.vector.nulls
    if let column = cell.pointee.edited { nulls = column.nullCount > 0 ? UnsafePointer(column.nulls) : nil }
    return ColumnVector(layout: .constantBytes, count: chunk.count, base: 0, values: UnsafeRawPointer(Bits.allSet), nulls: nulls)
  }
}

extension Array {
  /// The first position whose element fails, in an array where all that pass come first.
  func partitionPoint(_ passes: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if passes(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
