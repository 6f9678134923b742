import StorageInterface
import StoreValues

/// Numbers of many rows of a snapshot, read by its lanes.
extension ColumnReading {
  /// The lanes of a table; nil where a scan has to ask the chunks themselves: they may change, or it wants texts, which may lie
  /// elsewhere, or nulls alone.
  final func lanes(_ table: TableState, _ asked: AskedColumns) throws(StorageError) -> ScanLanes? {
    isFixed && asked.isOfNumbers ? try madeLanes(table) : nil
  }

  /// The lanes of a table for reading single rows; nil where those are too few to be worth laying them out.
  final func lanes(_ table: TableState, rows: Int) throws(StorageError) -> ScanLanes? {
    if let lanes = table.lanes { return lanes }
    guard isFixed, rows >= ColumnReading.lanesRowsMin, try chunkNumbers(table).count <= rows * 4 else { return nil }
    return try madeLanes(table)
  }

  private static let lanesRowsMin = 64

  private final func madeLanes(_ table: TableState) throws(StorageError) -> ScanLanes {
    if let lanes = table.lanes { return lanes }
    let made = ScanLanes(try chunkNumbers(table), slots: table.shapes.count)
    table.lanes = made
    return made
  }

  /// Gives the chunks that the zones do not leave out, all but the fresh one. `space` has room for the columns.
  final func scan(
    _ lanes: ScanLanes, _ table: TableState, _ asked: AskedColumns, _ space: UnsafeMutablePointer<ColumnVector>,
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) -> Step {
    let slots = asked.slots
    let columns = UnsafeMutablePointer<ScanLanes.Lane>.allocate(capacity: max(slots.count, 1))
    defer { columns.deallocate() }
    for (i, slot) in slots.enumerated() { (columns + i).initialize(to: lanes.lane(slot)) }
    let zones = asked.zones.map { (lane: lanes.lane($0.slot), slot: $0.slot, from: $0.from, to: $0.to) }
    let vectors = UnsafeBufferPointer(start: UnsafePointer(space), count: slots.count)
    for i in 0..<lanes.count {
      if lanes.frames[i].count < 0 { lanes.visit(i, try chunk(table, number: lanes.numbers[i])) }
      let frame = lanes.frames + i
      if frame.pointee.count == 0 { continue }
      var isLeftOut = false
      for zone in zones {
        if zone.lane[i].count == 0 { try fill(zone.lane + i, table, lanes.numbers[i], zone.slot) }
        if zone.lane[i].min > zone.to || zone.lane[i].max < zone.from { isLeftOut = true }
      }
      if isLeftOut { continue }
      for column in 0..<slots.count {
        let vector = columns[column] + i
        if vector.pointee.count == 0 { try fill(vector, table, lanes.numbers[i], slots[column]) }
        (space + column).initialize(to: vector.pointee)
      }
      let batch = ColumnBatch(
        firstKey: ObjectKey(frame.pointee.firstKey), keys: frame.pointee.keys, count: frame.pointee.count,
        live: frame.pointee.live, columns: vectors)
      if body(batch) == .stop { return .stop }
    }
    return .proceed
  }

  /// Reads the words of keys from position `start` on, up to one that has no place in the lanes, or lives in a chunk with gaps,
  /// or does not live. Returns where that is.
  final func words(
    _ lanes: ScanLanes, _ table: TableState, _ slot: Int, _ keys: UnsafeBufferPointer<Int64>, from start: Int,
    _ words: UnsafeMutablePointer<Int64>, _ nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError) -> Int {
    let lane = lanes.lane(slot)
    let end = table.fresh?.firstKey ?? .max
    for i in start..<keys.count {
      let key = keys[i]
      guard key > 0, key < end, let place = lanes.place(of: table.chunkNumber(of: key)) else { return i }
      if lanes.frames[place].count < 0 { lanes.visit(place, try chunk(table, number: lanes.numbers[place])) }
      let frame = lanes.frames + place
      let row = Int(key &- frame.pointee.firstKey)
      guard frame.pointee.keys == nil, row < frame.pointee.count else { return i }
      if let live = frame.pointee.live, !Bits.test(live, row) { return i }
      let vector = lane + place
      if vector.pointee.count == 0 { try fill(vector, table, lanes.numbers[place], slot) }
      nulls[i] = vector.pointee.isNull(at: row)
      words[i] = nulls[i] ? 0 : vector.pointee.word(at: row)
    }
    return keys.count
  }

  @inline(never) private final func fill(
    _ vector: UnsafeMutablePointer<ColumnVector>, _ table: TableState, _ number: Int64, _ slot: Int
  ) throws(StorageError) {
    // It was visited, so it is there.
    guard let chunk = try chunk(table, number: number) else { throw .corrupt("a chunk is missing") }
    vector.pointee = try self.vector(table, chunk, slot)
  }
}
