import StorageInterface
import StoreValues

/// The addresses of one column's words, by chunk number: reading a word goes straight to its row, past table, chunk and cell,
/// and counts no reference. Only for chunks without holes and nulls.
///
/// Raw memory that its maker deallocates. It points into the snapshot and into edited columns; a write that moves rows, deletes
/// them or makes them null must note the chunk again or forget it.
struct WordPlaces {
  private struct Place {
    var values: UnsafeRawPointer
    var base: Int64 = 0
    /// 0: unknown, or the chunk cannot be read here.
    var count: UInt32 = 0
    var layout = ColumnVector.Layout.constantWord
    /// The words belong to an edited column and may be set in place.
    var isEdited = false
  }

  /// Larger tables are read without this.
  private static let chunksMax: Int64 = 65_536

  let column: ColumnID
  private let rowsPerChunk: UInt32
  private let chunkCount: Int
  /// The exclusive upper bound of `key - 1` in the covered chunks.
  private let lastKey: UInt64
  private let places: UnsafeMutablePointer<Place>
  /// Words may be set without side effects: no index, no smaller type.
  let isPlain: Bool

  /// Makes places for all chunks of a table, all unknown; nil if the table is too large.
  init?(_ column: ColumnID, _ table: TableState, _ slot: Int) {
    let traits = table.traits[slot]
    isPlain = traits.isScalar && !traits.isRanged && table.indexesOfSlot[slot].isEmpty
      && (traits.form == .integer || traits.form == .double)
    let last = (table.nextKey &- 1) / Int64(table.rowsPerChunk)
    guard last >= 0, last < WordPlaces.chunksMax, let rows = UInt32(exactly: table.rowsPerChunk) else { return nil }
    self.column = column
    rowsPerChunk = rows
    chunkCount = Int(last) + 1
    // At most 65,536 chunks of 4,096 rows: within 32 bits.
    lastKey = UInt64(chunkCount) * UInt64(rows)
    places = .allocate(capacity: chunkCount)
    places.initialize(repeating: Place(values: UnsafeRawPointer(Bits.allSet)), count: chunkCount)
  }

  func deallocate() { places.deallocate() }

  /// Records where a chunk's column is now, or that it cannot be read here.
  func note(_ chunk: Chunk, _ slot: Int) {
    guard chunk.number >= 0, chunk.number < Int64(chunkCount) else { return }
    let place = places + Int(chunk.number)
    place.pointee.count = 0
    guard chunk.isFull, !chunk.isSparse, chunk.firstKey == chunk.number * Int64(rowsPerChunk) + 1 else { return }
    let cell = chunk.cells + slot
    let count = UInt32(truncatingIfNeeded: chunk.count)
    if let column = cell.pointee.edited {
      guard column.nullCount == 0 else { return }
      place.pointee = Place(values: UnsafeRawPointer(column.words), count: count, layout: .int64, isEdited: true)
    } else if cell.pointee.state == .encoded, cell.pointee.vector.nulls == nil {
      let vector = cell.pointee.vector
      place.pointee = Place(values: vector.values, base: vector.base, count: count, layout: vector.layout)
    }
  }

  func forget(_ chunk: Int64) {
    if chunk >= 0, chunk < Int64(chunkCount) { places[Int(chunk)].count = 0 }
  }

  /// Sets a word in place and returns whether it changed; nil if that is not possible.
  @inline(__always) func set(_ key: Int64, _ word: Int64) -> Bool? {
    let offset = UInt64(bitPattern: key &- 1)
    if !isPlain || offset >= lastKey { return nil }
    let small = UInt32(truncatingIfNeeded: offset)
    let number = small / rowsPerChunk
    let row = small &- number &* rowsPerChunk
    let place = places + Int(number)
    if row >= place.pointee.count || !place.pointee.isEdited { return nil }
    // An edited column's words are its own memory, of `count` words at least.
    let words = UnsafeMutableRawPointer(mutating: place.pointee.values).assumingMemoryBound(to: Int64.self)
    if words[Int(row)] == word { return false }
    words[Int(row)] = word
    return true
  }

  /// The word of an object; nil if it is not known here.
  @inline(__always) func word(_ key: Int64) -> Int64? {
    let offset = UInt64(bitPattern: key &- 1)
    if offset >= lastKey { return nil }
    // Both have 32 bits, so the division is several times faster.
    let small = UInt32(truncatingIfNeeded: offset)
    let number = small / rowsPerChunk
    let row = small &- number &* rowsPerChunk
    let place = places + Int(number)
    if row >= place.pointee.count { return nil }
    let values = place.pointee.values
    switch place.pointee.layout {
    case .int8: return place.pointee.base &+ Int64(values.load(fromByteOffset: Int(row), as: UInt8.self))
    case .int16: return place.pointee.base &+ Int64(values.number(Int(row) &* 2, as: UInt16.self))
    case .int32: return place.pointee.base &+ Int64(values.number(Int(row) &* 4, as: UInt32.self))
    case .int64: return place.pointee.base &+ values.number(Int(row) &* 8, as: Int64.self)
    case .bits: return Int64(values.load(fromByteOffset: Int(row) &>> 3, as: UInt8.self) &>> UInt8(row & 7) & 1)
    case .float32: return Int64(values.number(Int(row) &* 4, as: UInt32.self))
    case .float64: return values.number(Int(row) &* 8, as: Int64.self)
    default: return place.pointee.base
    }
  }
}

extension ColumnReading {
  /// The cache slot of a column.
  @inline(__always) private final func placeIndex(_ column: ColumnID) -> Int { Int(column.property.rawValue & 7) }

  /// A word whose place is known; nil if it must be looked up.
  @inline(__always) final func placedWord(_ column: ColumnID, _ key: Int64) -> Int64? {
    guard let wordPlaces, let places = wordPlaces[placeIndex(column)], places.column == column else { return nil }
    return places.word(key)
  }

  /// Sets a word whose place is known and returns whether it changed; nil if it must be set the regular way.
  @inline(__always) final func setPlaced(_ column: ColumnID, _ key: Int64, _ word: Int64) -> Bool? {
    guard let wordPlaces, let places = wordPlaces[placeIndex(column)], places.column == column else { return nil }
    return places.set(key, word)
  }

  /// Records where a word was found.
  final func keepPlace(_ column: ColumnID, _ table: TableState, _ chunk: Chunk, _ slot: Int) {
    wordReads += 1
    // A transaction that reads a few words of a large table must not pay for the places of all its chunks.
    guard Int64(wordReads) * 8 > table.chunkNumber(of: table.nextKey), chunk !== table.fresh else { return }
    let all: UnsafeMutablePointer<WordPlaces?>
    if let wordPlaces { all = wordPlaces } else {
      all = .allocate(capacity: 8)
      all.initialize(repeating: nil, count: 8)
      wordPlaces = all
    }
    let i = placeIndex(column)
    if all[i]?.column != column {
      all[i]?.deallocate()
      all[i] = WordPlaces(column, table, slot)
    }
    all[i]?.note(chunk, slot)
  }

  /// Call after a chunk's column was replaced: records its new place.
  @inline(__always) final func movePlace(_ column: ColumnID, _ chunk: Chunk, _ slot: Int) {
    guard let wordPlaces, let places = wordPlaces[placeIndex(column)], places.column == column else { return }
    places.note(chunk, slot)
  }

  /// Call after rows of a chunk were added or removed.
  @inline(__always) final func forgetPlaces(of table: TableState, _ chunk: Chunk) {
    guard let all = wordPlaces else { return }
    for i in 0..<8 where all[i]?.column.table == table.id { all[i]?.forget(chunk.number) }
  }

  final func forgetPlaces() {
    guard let all = wordPlaces else { return }
    wordPlaces = nil
    wordReads = 0
    for i in 0..<8 { all[i]?.deallocate() }
    all.deallocate()
  }
}
