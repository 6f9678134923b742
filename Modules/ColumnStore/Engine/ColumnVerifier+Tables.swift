import StorageInterface
import StoreValues

extension ColumnVerifier {
  /// Verifies a table's record against its chunks, and each of its index structures.
  func verifyTable(_ entry: TableEntry) {
    guard let table = openTable(entry.id) else { return }
    trying(entry.name) { () throws(StorageError) in
      var living = table.fresh?.liveCount ?? 0
      var last: Int64 = table.fresh.map { $0.firstKey + Int64($0.count) - 1 } ?? 0
      for number in try reading.chunkNumbers(table) {
        guard let chunk = try reading.chunk(table, number: number) else {
          fault(entry.name, "chunk \(number) is listed and not there")
          continue
        }
        living += chunk.liveCount
        if chunk.count > 0 { last = max(last, chunk.key(at: chunk.count - 1)) }
      }
      if living != table.liveCount { fault(entry.name, "counts \(table.liveCount) objects, and its chunks have \(living)") }
      if last >= table.nextKey { fault(entry.name, "gives key \(table.nextKey) next, and \(last) is in use") }
    }
    for (position, index) in table.indexes.enumerated() { verifyIndex(table, position, index) }
  }

  /// Verifies a column's header against its rows: counts, bounds, and required values.
  func verifyColumn(_ table: TableState, _ chunk: Chunk, _ slot: Int, _ place: String) throws(StorageError) {
    try reading.load(table, chunk, slot)
    let shape = table.shapes[slot]
    let vector = chunk.cells[slot].vector
    var nulls = 0
    for row in 0..<chunk.count {
      let isLive = Bits.test(chunk.live, row)
      if vector.isNull(at: row) {
        nulls += 1
        if isLive, !shape.isOptional, !shape.isCollection {
          fault("\(table.entry.name) #\(chunk.key(at: row))", "has no '\(shape.name)', which is required")
        }
        continue
      }
      guard isLive else { continue }
      if let external = chunk.cells[slot].external, Bits.test(external, row) {
        _ = try reading.passingBytes(table, slot, chunk.key(at: row))
      } else if shape.form.isWord, let ordinal = ColumnVerifier.ordinal(vector.word(at: row), shape.form),
        ordinal < vector.min || ordinal > vector.max {
        fault(place, "has bounds that leave out the value of row \(row)")
      }
    }
    if let stored = try storedNullCount(table, chunk, slot), stored != nulls {
      fault(place, "counts \(stored) nulls, and has \(nulls)")
    }
  }

  private func storedNullCount(_ table: TableState, _ chunk: Chunk, _ slot: Int) throws(StorageError) -> Int? {
    guard let bytes = try reading.value(.column(table.id, table.shapes[slot].property, chunk.number)),
      let start = bytes.baseAddress
    else { return nil }
    return Int(start.number(4, as: UInt16.self))
  }

  /// The ordinal as in `ZoneHint`; nil for NaN, which has none.
  private static func ordinal(_ word: Int64, _ form: ColumnShape.Form) -> Int64? {
    switch form {
    case .double:
      let number = Double(bitPattern: UInt64(bitPattern: word))
      return number.isNaN ? nil : ZoneHint.ordinal(of: number)
    case .float:
      let number = Double(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
      return number.isNaN ? nil : ZoneHint.ordinal(of: number)
    default: return word
    }
  }

  /// Verifies the blocks of an index: each intact, in order, within its fences, and as many entries as the record counts.
  /// Whether the entries match the objects is verified above the storage interface.
  private func verifyIndex(_ table: TableState, _ position: Int, _ index: IndexShape) {
    let names = index.slots.map { table.shapes[$0].name }.joined(separator: ", ")
    let place: String
    switch index.reference {
    case .index: place = "index of \(table.entry.name) over \(names)"
    case .backlinks: place = "backlinks of \(table.entry.name).\(names)"
    }
    trying(place) { () throws(StorageError) in
      let reader = try reading.reader(table, position)
      let end = table.endOfEntries(position)
      var count = 0
      var last: [UInt8]?
      for i in 0..<reader.fences.count {
        let block = try reader.block(i)
        let fence = Array(reader.fences.fence(i))
        let next = i + 1 < reader.fences.count ? Array(reader.fences.fence(i + 1)) : nil
        for row in 0..<block.count {
          let entry = ColumnVerifier.entry(block, row)
          if let last, !last.lexicographicallyPrecedes(entry), index.isUnique || last != entry || !isBacklink(index) {
            fault(place, "entry \(row) of block \(i) is out of order")
          }
          let isInside = !entry.lexicographicallyPrecedes(fence) && (next.map { entry.lexicographicallyPrecedes($0) } ?? true)
          if !isInside { fault(place, "entry \(row) of block \(i) lies outside the block's fences") }
          if block.object(at: row) >= end { fault(place, "entry \(row) of block \(i) is of a fresh row") }
          last = entry
        }
        count += block.count
      }
      if count != reader.entryCount { fault(place, "counts \(reader.entryCount) entries, and its blocks have \(count)") }
    }
  }

  /// Backlinks may repeat, because a list may hold one target twice.
  private func isBacklink(_ index: IndexShape) -> Bool {
    if case .backlinks = index.reference { return true }
    return false
  }

  /// The bytes that an entry sorts by: key, then object.
  private static func entry(_ block: IndexBlock, _ row: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    if block.isWord {
      IndexKeyCoding.append(ordinal: block.word(at: row), to: &bytes)
    } else {
      let arena = ByteArena()
      bytes += block.key(at: row, in: arena)
      withExtendedLifetime(arena) {}
    }
    IndexKeyCoding.append(object: block.object(at: row), to: &bytes)
    return bytes
  }
}
