import StorageInterface
import StoreValues

/// Indexes of rows have no entries of the fresh rows, of which there is a page at most (Docs/FileFormat.md, "Index keys"). Who reads an
/// index merges them in: a transaction makes them once for each index that it asks, or looks at the rows themselves where that is less.
extension ColumnReading {
  /// The most fresh rows that are looked at one by one for a number.
  static var freshScanMax: Int { 128 }

  /// The edits of an index, the entries of the fresh rows among them; nil if there are none of either.
  final func edits(of table: TableState, _ position: Int) throws(StorageError) -> IndexEdits? {
    if table.lacksFresh(position), let fresh = table.fresh, fresh.liveCount > 0 { try makeFreshEntries(table, position) }
    return table.edits[position]
  }

  /// Adds the entries of the fresh rows to the edits of an index that lacks them. From then on the index is edited with each change of a
  /// fresh row, as with any other.
  final func makeFreshEntries(_ table: TableState, _ position: Int) throws(StorageError) {
    let index = table.indexes[position]
    let edits = table.edits[position] ?? IndexEdits.make(index)
    if let fresh = table.fresh {
      if index.isWord {
        for row in 0..<fresh.count where Bits.test(fresh.live, row) {
          guard let word = try word(table, fresh, row, index.firstSlot) else { continue }
          edits.add(word: IndexKeyCoding.ordinal(word, index.firstForm), object: fresh.key(at: row), isRemoval: false)
        }
      } else {
        // All keys first: if one cannot be read, the edits stay as they are.
        let (bytes, ends) = try freshKeys(table, index, fresh)
        bytes.withUnsafeBytes { bytes in
          var start = 0
          for (object, end) in ends {
            edits.add(key: UnsafeRawBufferPointer(rebasing: bytes[start..<end]), object: object, isRemoval: false)
            start = end
          }
        }
      }
    }
    edits.hasFresh = true
    if table.edits[position] == nil {
      table.edits[position] = edits
      directIndex = nil
    }
  }

  /// The keys of the live fresh rows one after the other, and of each its object and its end.
  private final func freshKeys(
    _ table: TableState, _ index: IndexShape, _ fresh: Chunk
  ) throws(StorageError) -> ([UInt8], [(object: Int64, end: Int)]) {
    var bytes: [UInt8] = []
    var ends: [(object: Int64, end: Int)] = []
    for row in 0..<fresh.count where Bits.test(fresh.live, row) {
      _ = try appendKey(table, index, fresh, row, to: &bytes)
      ends.append((fresh.key(at: row), bytes.count))
    }
    return (bytes, ends)
  }

  /// Appends the key of a stored row, with a new value for slot `replaced` if given; returns whether a component is null.
  final func appendKey(
    _ table: TableState, _ index: IndexShape, _ chunk: Chunk, _ position: Int, replacing replaced: Int? = nil,
    newWord: Int64? = nil, newBytes: UnsafeRawBufferPointer? = nil, to key: inout [UInt8]
  ) throws(StorageError) -> Bool {
    var hasNull = false
    for slot in index.slots {
      let shape = table.shapes[slot]
      if shape.form.isWord {
        let word = slot == replaced ? newWord : try self.word(table, chunk, position, slot)
        if let word { IndexKeyCoding.append(word: word, shape, to: &key) } else {
          hasNull = true
          IndexKeyCoding.appendNull(to: &key)
        }
      } else {
        let bytes = slot == replaced ? newBytes : try self.bytes(table, chunk, position, slot)
        if let bytes { IndexKeyCoding.append(bytes: bytes, shape, to: &key) } else {
          hasNull = true
          IndexKeyCoding.appendNull(to: &key)
        }
      }
    }
    return hasNull
  }

  // MARK: One number

  /// The object of a word in a unique index of integers, none of whose edits has touched it. O(log n), and a look at each fresh row.
  final func object(ofWord word: UInt64, _ table: TableState, _ position: Int) throws(StorageError) -> Int64? {
    if table.lacksFresh(position), let fresh = table.fresh,
      let object = ColumnReading.object(ofWord: word, fresh, table.indexes[position].firstSlot)
    {
      return object
    }
    return try storedObject(ofWord: word, table, position)
  }

  /// The same in the blocks alone.
  final func storedObject(ofWord word: UInt64, _ table: TableState, _ position: Int) throws(StorageError) -> Int64? {
    guard let object = try reader(table, position).object(ofWord: word) else { return nil }
    guard let edits = table.edits[position], edits.hasDeleted else { return object }
    return try chunk(table, object)?.position(of: object) == nil ? nil : object
  }

  /// A live fresh row with an integer in a required column, as its word in an index; not `own`.
  static func object(ofWord word: UInt64, _ fresh: Chunk, _ slot: Int, except own: Int64? = nil) -> Int64? {
    // Every stored cell of fresh rows is edited.
    guard let words = fresh.cells[slot].edited?.words else { return nil }
    let number = Int64(bitPattern: word ^ (1 << 63))
    for row in 0..<fresh.count where words[row] == number && Bits.test(fresh.live, row) && fresh.key(at: row) != own {
      return fresh.key(at: row)
    }
    return nil
  }

  /// The number of live fresh rows with an integer in a required column.
  static func count(ofWord word: UInt64, _ fresh: Chunk, _ slot: Int) -> Int {
    guard let words = fresh.cells[slot].edited?.words else { return 0 }
    let number = Int64(bitPattern: word ^ (1 << 63))
    var count = 0
    for row in 0..<fresh.count where words[row] == number && Bits.test(fresh.live, row) { count += 1 }
    return count
  }

  /// The integers of the live fresh rows in a required column, as words of an index; nil if there are no such rows.
  static func filter(_ fresh: Chunk?, _ slot: Int) -> WordFilter? {
    guard let fresh, fresh.liveCount > 0, let words = fresh.cells[slot].edited?.words else { return nil }
    let filter = WordFilter()
    for row in 0..<fresh.count where Bits.test(fresh.live, row) { filter.insert(UInt64(bitPattern: words[row]) ^ (1 << 63)) }
    return filter
  }
}
