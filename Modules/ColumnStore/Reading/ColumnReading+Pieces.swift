import StorageInterface
import StoreValues

/// Scans of columns with long values, which are in entries of their own and must be assembled.
///
/// Small amounts are cached for the next scan, as other columns are. A larger chunk is lent in pieces: batches of the same rows
/// in which all but a few are holes, whose bytes are freed after the call.
extension ColumnReading {
  /// The size of a piece, unless a single row is larger.
  private static let pieceBytes = 8 << 20
  /// The most that is cached of one column of a chunk, and by one transaction.
  private static let keptBytesOfChunk = 1 << 20
  private static let keptBytesMax = 64 << 20

  /// Those of the columns that must be lent in pieces.
  final func slotsInPieces(_ table: TableState, _ chunk: Chunk, _ slots: [Int]) throws(StorageError) -> [Int] {
    var result: [Int] = []
    for slot in slots where table.shapes[slot].form == .bytes {
      try load(table, chunk, slot)
      if !chunk.hasExternal(slot) || chunk.isPresented(slot) { continue }
      var bytes = 0
      for row in 0..<chunk.count { bytes += try longByteCount(table, chunk, slot, row) }
      if bytes <= ColumnReading.keptBytesOfChunk, keptLongBytes + bytes <= ColumnReading.keptBytesMax {
        keptLongBytes += bytes
      } else {
        result.append(slot)
      }
    }
    return result
  }

  /// The size of a live row's value if it is in an entry of its own; else 0.
  private final func longByteCount(
    _ table: TableState, _ chunk: Chunk, _ slot: Int, _ row: Int
  ) throws(StorageError) -> Int {
    guard Bits.test(chunk.live, row), chunk.isExternal(slot, row) else { return 0 }
    return try passingBytes(table, slot, chunk.key(at: row)).bytes.count
  }

  /// Lends the rows of a chunk from position `from` on.
  final func visitPieces(
    _ table: TableState, _ chunk: Chunk, _ slots: [Int], _ long: [Int], _ space: UnsafeMutablePointer<ColumnVector>,
    _ from: Int, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) -> Step {
    let columns = long.map { rows(table, chunk, $0) }
    for (i, slot) in slots.enumerated() where !long.contains(slot) {
      (space + i).initialize(to: try vector(table, chunk, slot))
    }
    var row = from
    while row < chunk.count {
      let piece = try piece(table, chunk, long, from: row)
      row = piece.upperBound
      var held: [ValueBuffer] = []
      defer { withExtendedLifetime(held) {} }
      for (column, slot) in zip(columns, long) {
        let encoded = try encodeWhole(column, table, chunk, slot, rows: piece)
        let vector = try DecodedColumn(encoded.bytes, form: .bytes, count: chunk.count).vector
        held.append(encoded)
        for (i, other) in slots.enumerated() where other == slot { (space + i).initialize(to: vector) }
      }
      if lend(chunk, piece, UnsafeBufferPointer(start: space, count: slots.count), body) == .stop { return .stop }
    }
    return .proceed
  }

  /// The rows that fit in one piece; at least one.
  private final func piece(
    _ table: TableState, _ chunk: Chunk, _ long: [Int], from first: Int
  ) throws(StorageError) -> Range<Int> {
    var bytes = 0
    var end = first
    while end < chunk.count {
      for slot in long { bytes += try longByteCount(table, chunk, slot, end) }
      if bytes > ColumnReading.pieceBytes, end > first { break }
      end += 1
    }
    return first..<end
  }

  /// Lends the live rows of a piece, the others as holes.
  private final func lend(
    _ chunk: Chunk, _ piece: Range<Int>, _ vectors: UnsafeBufferPointer<ColumnVector>,
    _ body: (borrowing ColumnBatch) -> Step
  ) -> Step {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Bits.wordCount(chunk.count)) { live in
      var isEmpty = true
      for i in live.indices {
        let low = max(piece.lowerBound - i * 64, 0)
        let high = min(piece.upperBound - i * 64, 64)
        live[i] = low < high ? chunk.live[i] & (UInt64.max << UInt64(low)) & (UInt64.max >> UInt64(64 - high)) : 0
        if live[i] != 0 { isEmpty = false }
      }
      if isEmpty { return .proceed }
      return body(
        ColumnBatch(
          firstKey: ObjectKey(chunk.firstKey), keys: chunk.keys(), count: chunk.count, live: UnsafePointer(live.baseAddress),
          columns: vectors))
    }
  }
}
