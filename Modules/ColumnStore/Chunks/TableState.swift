import StorageInterface
import StoreValues

/// One table, as one transaction sees it: its record, the chunks read so far, and its fresh rows.
///
/// `@exclusivity(unchecked)`: confined to its transaction; no closure runs while a variable changes.
final class TableState {
  let id: TableID
  private(set) var entry: TableEntry
  @exclusivity(unchecked) private(set) var shapes: [ColumnShape]
  /// Parallel to `shapes`, in raw memory freed with the table.
  @exclusivity(unchecked) private(set) var traits: UnsafeMutablePointer<ColumnTraits>
  /// The slot of each property number; -1: none.
  @exclusivity(unchecked) private var slots: [Int16] = []
  let rowsPerChunk: Int
  /// Whether the indexes of the file have no entries of fresh rows.
  private let leavesFreshOut: Bool

  /// The key of the next object.
  @exclusivity(unchecked) var nextKey: Int64 = 1
  /// `nextKey` includes the keys that this engine gave to writes that were rolled back since.
  @exclusivity(unchecked) var hasNextKey = false
  @exclusivity(unchecked) var liveCount = 0
  @exclusivity(unchecked) var isCountChecked = false
  /// The commit that last added or removed a chunk.
  var directoryVersion: UInt64 = 0

  @exclusivity(unchecked) var chunks = ChunkTable()
  /// The rows above all chunks: in a snapshot at most a page full, in a write up to the end of their chunk.
  @exclusivity(unchecked) var fresh: Chunk?
  /// The base version has an entry of fresh rows.
  @exclusivity(unchecked) var isFreshStored = false
  @exclusivity(unchecked) var isFreshChanged = false
  /// The encoded fresh rows of the base version; nil once one of them was changed.
  @exclusivity(unchecked) var storedFresh: FreshRows.Stored?
  /// Chunks that this write has added, ascending and above all stored ones.
  var addedNumbers: [Int64] = []
  var directory: ChunkDirectory?
  /// The transaction's lanes of the process's image of the table; nil until it has read some chunks.
  @exclusivity(unchecked) var lanes: TableLanes?
  /// The number of chunks read without lanes.
  @exclusivity(unchecked) var chunkReads = 0
  /// The record must be written.
  @exclusivity(unchecked) var isChanged = false

  /// The index structures: the declared ones, then the backlinks of each relationship.
  @exclusivity(unchecked) private(set) var indexes: [IndexShape] = []
  /// Parallel to `indexes`: their `isDirect`, readable without touching the shape.
  @exclusivity(unchecked) private var directness: [Bool] = []
  /// Positions in `indexes` of the structures that depend on a slot.
  @exclusivity(unchecked) private(set) var indexesOfSlot: [[Int]] = []
  /// Parallel to `indexes`: the readers, and this write's edits.
  @exclusivity(unchecked) var readers: [IndexReader?] = []
  @exclusivity(unchecked) var edits: [IndexEdits?] = []
  /// Which numbers the fresh rows have in the unique index of integers that was looked up last.
  @exclusivity(unchecked) private var freshNumbers: WordFilter?
  /// The lists changed by this write.
  var lists: [ListOwner: EditedList] = [:]
  /// Objects deleted by this write whose values or lists have entries of their own.
  var leavingEntries: Set<Int64> = []

  init(_ shapes: TableShapes, _ header: FileHeader) {
    id = shapes.entry.id
    entry = shapes.entry
    rowsPerChunk = header.rowsPerChunk
    leavesFreshOut = header.leavesFreshOut
    self.shapes = []
    traits = .allocate(capacity: 1)
    adopt(shapes)
  }

  deinit {
    traits.deallocate()
    freshNumbers?.deallocate()
  }

  /// Replaces the table's description. Columns are only ever appended, and the last ones removed if that is undone.
  func adopt(_ new: TableShapes) {
    entry = new.entry
    shapes = new.columns
    traits.deallocate()
    traits = .allocate(capacity: max(shapes.count, 1))
    for (slot, shape) in shapes.enumerated() { (traits + slot).initialize(to: ColumnTraits(shape)) }
    slots = new.slots
    if indexes.isEmpty {
      readers = [IndexReader?](repeating: nil, count: new.indexes.count)
      edits = [IndexEdits?](repeating: nil, count: new.indexes.count)
    } else {
      let before = Dictionary(uniqueKeysWithValues: zip(indexes.map(\.reference), zip(readers, edits)))
      readers = new.indexes.map { before[$0.reference]?.0 ?? nil }
      edits = new.indexes.map { before[$0.reference]?.1 ?? nil }
    }
    indexes = new.indexes
    directness = new.directness
    indexesOfSlot = new.indexesOfSlot
    storedFresh = nil
    for chunk in chunks.values {
      // Other columns may get the slots of undone ones.
      chunk.removeCells(from: shapes.count)
      chunk.addCells(upTo: shapes.count)
    }
    fresh?.removeCells(from: shapes.count)
    if let fresh, fresh.cellCount < shapes.count {
      let old = fresh.cellCount
      fresh.addCells(upTo: shapes.count)
      for slot in old..<shapes.count where shapes[slot].form != .none {
        let column = EditedColumn(form: shapes[slot].form, capacity: fresh.count)
        for _ in 0..<fresh.count { column.appendAbsent(shapes[slot]) }
        fresh.cells[slot].edited = column
        fresh.cells[slot].state = .edited
      }
    }
  }

  /// Call before changing a row that may be stored among the fresh ones.
  @inline(__always) func changeFresh() {
    isFreshChanged = true
    storedFresh = nil
  }

  /// Whether the entries of the fresh rows are in neither the blocks nor the edits of an index. Then a change of a fresh row needs
  /// no edit, and who reads the index looks at the rows.
  @inline(__always) func lacksFresh(_ position: Int) -> Bool { leavesOut(position) && edits[position]?.hasFresh != true }

  /// Whether the blocks of an index have no entries of fresh rows.
  @inline(__always) func leavesOut(_ position: Int) -> Bool { leavesFreshOut && indexes[position].isOfRows }

  /// The key from which on rows have no entries in the blocks of an index.
  func endOfEntries(_ position: Int) -> Int64 { leavesOut(position) ? fresh?.firstKey ?? .max : .max }

  /// Keeps a filter as long as the table, or until the next.
  func keep(_ filter: WordFilter) {
    freshNumbers?.deallocate()
    freshNumbers = filter
  }

  /// Whether the index is a unique one whose keys are integers.
  @inline(__always) func isDirect(_ position: Int) -> Bool { directness[position] }

  @inline(__always) func slot(_ property: PropertyID) -> Int? {
    let raw = Int(property.rawValue)
    guard raw < slots.count, slots[raw] >= 0 else { return nil }
    return Int(slots[raw])
  }

  @inline(__always) func chunkNumber(of key: Int64) -> Int64 {
    // 32-bit division is several times faster.
    if let small = UInt32(exactly: key &- 1), let rows = UInt32(exactly: rowsPerChunk) { return Int64(small / rows) }
    return (key &- 1) / Int64(rowsPerChunk)
  }
  func firstKey(of number: Int64) -> Int64 { number * Int64(rowsPerChunk) + 1 }
}

/// The record of a table: next key u64, object count u64, version of the last change of chunks u64.
extension TableState {
  func read(record bytes: UnsafeRawBufferPointer) throws(StorageError) {
    guard let start = bytes.baseAddress, bytes.count >= 24 else { throw .corrupt("the record of a table is cut off") }
    nextKey = start.number(0)
    guard nextKey > 0, nextKey < Int64.max >> 2, let count = Int(exactly: start.number(8, as: UInt64.self)),
      count < Int.max >> 2
    else {
      throw .corrupt("the record of a table has impossible numbers")
    }
    liveCount = count
    directoryVersion = start.number(16)
  }

  /// Throws `.corrupt` if more objects were deleted than the record had counted.
  func encodedRecord() throws(StorageError) -> ValueBuffer {
    guard let count = UInt64(exactly: liveCount) else { throw .corrupt("the record of a table counts too few objects") }
    return ValueBuffer(count: 24) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // 24 bytes have an address
      out.store(nextKey, at: 0)
      out.store(count, at: 8)
      out.store(directoryVersion, at: 16)
    }
  }
}
