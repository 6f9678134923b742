import StorageInterface
import StoreValues

/// Reads the words of many rows of a snapshot from the lanes of the process's image.
extension ColumnReading {
  /// The lanes of a table; nil if a scan must read the chunks themselves: they may change, or it needs byte strings, which may
  /// be in entries of their own, or only nulls.
  final func lanes(_ table: TableState, _ asked: AskedColumns) throws(StorageError) -> TableLanes? {
    isFixed && asked.isOfNumbers ? try tableLanes(table) : nil
  }

  /// The lanes of a table for reading single rows; nil if there are too few rows to pay for them.
  final func lanes(_ table: TableState, rows: Int) throws(StorageError) -> TableLanes? {
    guard isFixed, table.lanes != nil || rows >= ColumnReading.lanesRowsMin else { return nil }
    return try tableLanes(table)
  }

  private static let lanesRowsMin = 64

  /// Scans the chunks that the zones do not exclude, all but the fresh one. `space` has room for the columns.
  final func scan(
    _ lanes: TableLanes, _ table: TableState, _ asked: AskedColumns, _ space: UnsafeMutablePointer<ColumnVector>,
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) -> Step {
    let slots = asked.slots
    var frames = LaneCursor(lanes.frames)
    let columns = UnsafeMutablePointer<LaneCursor<ChunkCell>>.allocate(capacity: max(slots.count, 1))
    defer { columns.deallocate() }
    for (i, slot) in slots.enumerated() { (columns + i).initialize(to: LaneCursor(lanes.cells(table, slot))) }
    // Raw memory too: an array would be checked at every chunk.
    let zones = UnsafeMutablePointer<LaneCursor<ChunkCell>>.allocate(capacity: max(asked.zones.count, 1))
    defer { zones.deallocate() }
    for (i, zone) in asked.zones.enumerated() { (zones + i).initialize(to: LaneCursor(lanes.cells(table, zone.slot))) }
    let vectors = UnsafeBufferPointer(start: UnsafePointer(space), count: slots.count)
    nextChunk: for number in try chunkNumbers(table) {
      guard let frame = try frame(&frames, lanes, table, number) else {
        if try visit(table, number, asked, space, body) == .stop { return .stop }
        continue
      }
      let count = frame.pointee.count
      if frame.pointee.liveCount == 0 { continue }
      for (i, zone) in asked.zones.enumerated() {
        // If the image has no cell for it, the chunk itself is checked below.
        guard let cell = try cell(&zones[i], lanes, table, number, zone.slot, count: count) else { continue }
        if cell.pointee.vector.min > zone.to || cell.pointee.vector.max < zone.from { continue nextChunk }
      }
      for i in 0..<slots.count {
        guard let cell = try cell(&columns[i], lanes, table, number, slots[i], count: count) else {
          if try visit(table, number, asked, space, body) == .stop { return .stop }
          continue nextChunk
        }
        (space + i).initialize(to: cell.pointee.vector)
      }
      let batch = ColumnBatch(
        firstKey: ObjectKey(frame.pointee.firstKey), keys: frame.pointee.keys, count: count, live: frame.pointee.live,
        columns: vectors)
      if body(batch) == .stop { return .stop }
    }
    return .proceed
  }

  /// Visits a chunk for which the image has no room.
  @inline(never) private final func visit(
    _ table: TableState, _ number: Int64, _ asked: AskedColumns, _ space: UnsafeMutablePointer<ColumnVector>,
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) -> Step {
    guard let chunk = try chunk(table, number: number) else { return .proceed }
    return try visit(table, chunk, asked, space, 1, body)
  }

  /// Reads the words of keys from position `start` on, up to the first that is not in the lanes, or in a chunk with gaps, or
  /// not live. Returns its position.
  final func words(
    _ lanes: TableLanes, _ table: TableState, _ slot: Int, _ keys: UnsafeBufferPointer<Int64>, from start: Int,
    _ words: UnsafeMutablePointer<Int64>, _ nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError) -> Int {
    let (frames, cells) = (lanes.frames, lanes.cells(table, slot))
    let end = table.fresh?.firstKey ?? .max
    for i in start..<keys.count {
      let key = keys[i]
      guard key > 0, key < end else { return i }
      let number = table.chunkNumber(of: key)
      guard let frame = try frame(frames, lanes, table, number) else { return i }
      let row = Int(key &- frame.pointee.firstKey)
      guard frame.pointee.keys == nil, row < frame.pointee.count else { return i }
      if let live = frame.pointee.live, !Bits.test(live, row) { return i }
      guard let cell = try cell(cells, lanes, table, number, slot, count: frame.pointee.count) else { return i }
      nulls[i] = cell.pointee.vector.isNull(at: row)
      words[i] = nulls[i] ? 0 : cell.pointee.vector.word(at: row)
    }
    return keys.count
  }
}
