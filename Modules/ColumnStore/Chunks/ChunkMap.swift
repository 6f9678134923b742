import StorageInterface
import StoreValues

/// The entry with the rows of a chunk and their live bits (Docs/FileFormat.md, "Chunk maps"): position count u16, live count
/// u16, flags u16, 0 u16; then, depending on the flags, a u16 for each position of a sparse chunk, padded to 8 bytes, and a
/// live bitmap.
enum ChunkMap {
  private static let isSparse: UInt16 = 1
  private static let hasDead: UInt16 = 2

  static func encode(_ chunk: Chunk) -> ValueBuffer {
    let listed = chunk.isSparse ? (chunk.count * 2 + 7) & ~7 : 0
    let bitmap = chunk.isFull ? 0 : Bits.byteCount(chunk.count)
    return ValueBuffer(count: 8 + listed + bitmap) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // the buffer has at least 8 bytes
      out.store(UInt16(truncatingIfNeeded: chunk.count), at: 0)
      out.store(UInt16(truncatingIfNeeded: chunk.liveCount), at: 2)
      out.store((listed > 0 ? isSparse : 0) | (bitmap > 0 ? hasDead : 0), at: 4)
      out.store(UInt16(0), at: 6)
      if listed > 0 {
        out.store(UInt64(0), at: listed)
        for (i, row) in (chunk.rows ?? []).enumerated() { out.store(row, at: 8 + i * 2) }
      }
      for i in 0..<bitmap / 8 { out.store(chunk.live[i], at: 8 + listed + i * 8) }
    }
  }

  static func decode(
    _ bytes: UnsafeRawBufferPointer, number: Int64, rowsPerChunk: Int, cellCount: Int
  ) throws(StorageError) -> Chunk {
    let (frame, rows) = try read(bytes, number: number, rowsPerChunk: rowsPerChunk, .process)
    return withExtendedLifetime(rows) {
      Chunk(frame, number: number, capacity: rowsPerChunk, cellCount: cellCount)
    }
  }

  /// Decodes a map: the frame, and the memory it points to; nil if it points to none.
  static func read(
    _ bytes: UnsafeRawBufferPointer, number: Int64, rowsPerChunk: Int, _ budget: ImageBudget
  ) throws(StorageError) -> (frame: ChunkFrame, rows: ChunkRows?) {
    guard let start = bytes.baseAddress, bytes.count >= 8 else { throw .corrupt("a chunk map is cut off") }
    let count = Int(start.number(0, as: UInt16.self))
    let liveCount = Int(start.number(2, as: UInt16.self))
    let flags = start.number(4, as: UInt16.self)
    guard count > 0, count <= rowsPerChunk, liveCount <= count else { throw .corrupt("a chunk map has impossible counts") }
    // Chunk numbers are positions of 64-bit keys divided by the chunk's size: the product cannot overflow.
    guard number >= 0, number <= Int64.max / Int64(rowsPerChunk) - 1 else { throw .corrupt("a chunk has an impossible number") }
    let listed = flags & isSparse != 0 ? (count * 2 + 7) & ~7 : 0
    let bitmap = flags & hasDead != 0 ? Bits.byteCount(count) : 0
    guard bytes.count >= 8 + listed + bitmap else { throw .corrupt("a chunk map is cut off") }
    var list: [UInt16]?
    if listed > 0 {
      let rows = (0..<count).map { start.number(8 + $0 * 2, as: UInt16.self) }
      guard zip(rows, rows.dropFirst()).allSatisfy({ $0 < $1 }), Int(rows[count - 1]) < rowsPerChunk else {
        throw .corrupt("the rows of a sparse chunk are not ascending")
      }
      list = rows
    }
    var frame = ChunkFrame(firstKey: number * Int64(rowsPerChunk) + 1, count: count, liveCount: liveCount)
    if listed + bitmap == 0 {
      guard liveCount == count else { throw .corrupt("a chunk map counts its rows wrong") }
      return (frame, nil)
    }
    let rows = ChunkRows(
      firstKey: frame.firstKey, count: count, offsets: list, live: bitmap > 0 ? start + 8 + listed : nil, budget)
    guard rows.live.map({ Bits.population($0, count) }) ?? count == liveCount else {
      throw .corrupt("a chunk map counts its rows wrong")
    }
    // A chunk of only live rows needs no bitmap.
    frame.live = liveCount == count ? nil : UnsafePointer(rows.live)
    frame.keys = UnsafePointer(rows.keys)
    return (frame, rows)
  }
}

extension Chunk {
  /// A chunk in the state of the base version.
  convenience init(_ frame: ChunkFrame, number: Int64, capacity: Int, cellCount: Int) {
    self.init(number: number, firstKey: frame.firstKey, capacity: capacity, cellCount: cellCount)
    restore(count: frame.count, rows: frame.offsets)
    if let live = frame.live { setLiveWords(UnsafeRawPointer(live)) } else { markAllLive() }
    isStored = true
  }
}
