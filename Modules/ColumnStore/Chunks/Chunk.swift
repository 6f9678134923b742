import StorageInterface
import StoreValues

/// A transaction's state of one column of one chunk.
struct ColumnCell {
  enum State: UInt8 {
    /// Nothing was read yet.
    case unknown
    /// `vector` lies over encoded bytes.
    case encoded
    /// `edited` holds the rows.
    case edited
  }
  var state = State.unknown
  /// `owned` was made by this write and must be stored.
  var isNew = false
  var vector = ColumnVector(layout: .constantWord, count: 0, values: UnsafeRawPointer(Bits.allSet))
  var external: UnsafePointer<UInt64>?
  var edited: EditedColumn?
  /// The bytes under `vector`, unless they belong to the snapshot.
  var owned: ValueBuffer?
  /// Bitmaps that were copied for alignment.
  var scratch: ValueBuffer?
  /// A vector with all bytes in place, made for scans from a column that is edited or has external values. The revision of the
  /// edited column it was made from is `presentedRevision`.
  var presented: ColumnVector?
  var presentedBytes: ValueBuffer?
  var presentedRevision = 0
}

/// A run of up to `rowsPerChunk` rows of a table, as one transaction sees it. Rows have positions from 0. In most chunks,
/// position i has the key `firstKey + i`; sparse chunks list their keys.
///
/// `@exclusivity(unchecked)`: confined to its transaction, and no method passes one of these variables to a closure while
/// changing it.
final class Chunk {
  let number: Int64
  let firstKey: Int64
  @exclusivity(unchecked) private(set) var count: Int
  /// Of a sparse chunk: the key minus `firstKey` of each position, ascending.
  @exclusivity(unchecked) private(set) var rows: [UInt16]?
  /// Bit i: position i is live. Allocated even if every row is live.
  let live: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private(set) var liveCount: Int
  @exclusivity(unchecked) var cells: UnsafeMutablePointer<ColumnCell>
  @exclusivity(unchecked) private(set) var cellCount: Int
  private let bitmapWords: Int
  /// The keys of a sparse chunk's positions, computed for scans.
  private var keyBuffer: UnsafeMutablePointer<Int64>?

  /// The live bits or the positions differ from those of the base version.
  @exclusivity(unchecked) var isMapChanged = false
  /// A cell is edited or new.
  @exclusivity(unchecked) var isChanged = false
  /// The base version has an entry of the chunk.
  @exclusivity(unchecked) var isStored = false

  /// Makes a chunk without rows, with room for `capacity`.
  init(number: Int64, firstKey: Int64, capacity: Int, cellCount: Int) {
    self.number = number
    self.firstKey = firstKey
    count = 0
    liveCount = 0
    bitmapWords = Bits.wordCount(capacity) + 1
    live = .allocate(capacity: bitmapWords)
    live.initialize(repeating: 0, count: bitmapWords)
    cells = .allocate(capacity: max(cellCount, 1))
    cells.initialize(repeating: ColumnCell(), count: cellCount)
    self.cellCount = cellCount
  }

  deinit {
    live.deallocate()
    cells.deinitialize(count: cellCount)
    cells.deallocate()
    keyBuffer?.deallocate()
  }

  var isFull: Bool { count == liveCount }
  var isSparse: Bool { rows != nil }

  /// Makes room for columns that a catalog change adds.
  func addCells(upTo newCount: Int) {
    guard newCount > cellCount else { return }
    let larger = UnsafeMutablePointer<ColumnCell>.allocate(capacity: newCount)
    larger.moveInitialize(from: cells, count: cellCount)
    (larger + cellCount).initialize(repeating: ColumnCell(), count: newCount - cellCount)
    cells.deallocate()
    cells = larger
    cellCount = newCount
  }

  /// Forgets the columns that an undone catalog change had added.
  func removeCells(from newCount: Int) {
    guard newCount < cellCount else { return }
    (cells + newCount).deinitialize(count: cellCount - newCount)
    cellCount = newCount
  }
}

extension Chunk {
  /// The position of a live object's key; nil if the object is not live in this chunk.
  @inline(__always) func position(of key: Int64) -> Int? {
    guard let position = storedPosition(of: key), Bits.test(live, position) else { return nil }
    return position
  }

  /// The position of a key, live or not.
  @inline(__always) func storedPosition(of key: Int64) -> Int? {
    let offset = Int(key &- firstKey)
    if rows == nil { return offset >= 0 && offset < count ? offset : nil }
    return sparsePosition(offset)
  }

  private func sparsePosition(_ offset: Int) -> Int? {
    guard let rows else { return nil }
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if Int(rows[middle]) < offset { low = middle + 1 } else { high = middle }
    }
    return low < rows.count && Int(rows[low]) == offset ? low : nil
  }

  func key(at position: Int) -> Int64 { firstKey &+ Int64(rows.map { Int($0[position]) } ?? position) }

  /// The first position whose key is not below `key`.
  func firstPosition(from key: Int64) -> Int {
    if key <= firstKey { return 0 }
    guard let rows else { return Int(Swift.min(Int64(count), key &- firstKey)) }
    let offset = key &- firstKey
    return rows.firstIndex { Int64($0) >= offset } ?? rows.count
  }

  /// The keys of all positions of a sparse chunk; nil otherwise.
  func keys() -> UnsafePointer<Int64>? {
    guard let rows else { return nil }
    if let keyBuffer { return UnsafePointer(keyBuffer) }
    let buffer = UnsafeMutablePointer<Int64>.allocate(capacity: Swift.max(rows.count, 1))
    for (i, row) in rows.enumerated() { buffer[i] = firstKey &+ Int64(row) }
    keyBuffer = buffer
    return UnsafePointer(buffer)
  }

  private func forgetKeys() {
    keyBuffer?.deallocate()
    keyBuffer = nil
  }

  /// Takes positions and live bits from a stored map.
  func restore(count: Int, rows: [UInt16]?) {
    self.count = count
    self.rows = rows
  }

  func markAllLive() {
    for i in 0..<Bits.wordCount(count) { live[i] = .max }
    if count & 63 != 0 { live[count >> 6] = (1 << UInt64(count & 63)) - 1 }
    liveCount = count
  }

  func setLiveWords(_ words: UnsafeRawPointer) {
    for i in 0..<Bits.wordCount(count) { live[i] = words.number(i * 8) }
    if count & 63 != 0 { live[count >> 6] &= (1 << UInt64(count & 63)) - 1 }
    liveCount = Bits.population(live, count)
  }

  /// Appends a position. `row` is the key minus `firstKey`, higher than all others.
  @inline(__always) func appendRow(_ row: Int, isLive: Bool) {
    if rows != nil {
      rows?.append(UInt16(truncatingIfNeeded: row))
      forgetKeys()
    }
    if isLive {
      Bits.set(live, count)
      liveCount &+= 1
    }
    count &+= 1
    isMapChanged = true
  }

  func setLive(_ position: Int, _ isLive: Bool) {
    guard Bits.test(live, position) != isLive else { return }
    if isLive { Bits.set(live, position) } else { Bits.clear(live, position) }
    liveCount += isLive ? 1 : -1
    isMapChanged = true
  }

  /// Marks the chunk as stored: for the next write it is as if just read.
  func settle() {
    forgetPresented()
    isMapChanged = false
    isChanged = false
  }

  /// Drops the vectors made for scans: they hold the bytes of rows that were live then, and no others.
  func forgetPresented() {
    for slot in 0..<cellCount { cells[slot].presented = nil }
  }

  /// Whether the bytes of any row are in an entry of their own in the base version. The cell must be loaded.
  func hasExternal(_ slot: Int) -> Bool {
    if let column = cells[slot].edited { return column.hasExternal }
    return cells[slot].external != nil
  }

  /// Whether a current vector with all bytes in place exists.
  func isPresented(_ slot: Int) -> Bool {
    guard cells[slot].presented != nil else { return false }
    return cells[slot].edited.map { $0.revision == cells[slot].presentedRevision } ?? true
  }

  /// Whether the bytes of a row are in an entry of their own in the base version. The cell must be loaded.
  @inline(__always) func isExternal(_ slot: Int, _ position: Int) -> Bool {
    if let column = cells[slot].edited { return Bits.test(column.external, position) }
    if let external = cells[slot].external { return Bits.test(external, position) }
    return false
  }

  /// Switches to a list of keys.
  func makeSparse() {
    if rows == nil { rows = (0..<count).map { UInt16(truncatingIfNeeded: $0) } }
  }

  /// Keeps only the given positions, all of which must be live.
  func keep(_ positions: [Int]) {
    makeSparse()
    forgetKeys()
    rows = positions.map { rows?[$0] ?? 0 }
    count = positions.count
    markAllLive()
    isMapChanged = true
  }

  var livePositions: [Int] { (0..<count).filter { Bits.test(live, $0) } }
}
