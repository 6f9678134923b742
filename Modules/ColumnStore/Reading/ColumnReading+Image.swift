import StorageInterface
import StoreValues

/// Chunks of the base version, decoded by the process for all transactions.
extension ColumnReading {
  /// A transaction that reads fewer chunks of a table does not use its image, because that costs about as much; an example is a
  /// small step of a notification.
  static let readsBeforeImage = 8

  /// The lanes of a table in the base version; nil if they must not be used.
  final func tableLanes(_ table: TableState) throws(StorageError) -> TableLanes? {
    if let lanes = table.lanes { return isImageRead ? lanes : nil }
    guard isImageRead, let pages = Lane<ChunkFrame>.pageCount(upTo: table.chunkNumber(of: table.nextKey)) else { return nil }
    bringImageToVersion()
    let moment = ColumnImage.Moment(version: version.rawValue, memory: snapshot.memory)
    let lanes = TableLanes(engine.image, moment, table, pages: pages)
    table.lanes = lanes
    return lanes
  }

  /// Passes the commits that the image lacks to it.
  private final func bringImageToVersion() {
    if isImageAtVersion { return }
    isImageAtVersion = true
    guard let first = engine.image.missing(before: version.rawValue) else { return }
    engine.image.follow(touched(after: first), after: first, to: version.rawValue)
  }

  /// The most commits of other processes that are read for this.
  private static let commitsMax: UInt64 = 1_024

  /// The chunks that each commit after a version has written, up to this version; nil if one is unknown.
  private final func touched(after first: UInt64) -> [TouchedChunks]? {
    guard version.rawValue - first <= ColumnReading.commitsMax else { return nil }
    var commits: [TouchedChunks] = []
    var isWhole = true
    let isVisited: Void? = try? EntryKey.history(first + 1).withBytes { from throws(StorageError) in
      try snapshot.visit(from: from, sharing: 1, reverse: false) { key, value in
        guard key.count == 9 else { return .stop }
        let number = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        guard number == first + 1 + UInt64(commits.count), number <= version.rawValue else { return .stop }
        guard let commit = try? TouchedChunks(
          entry: value, version: Version(number), rowsPerChunk: engine.header.rowsPerChunk)
        else {
          isWhole = false
          return .stop
        }
        commits.append(commit)
        return .proceed
      }
    }
    return isVisited != nil && isWhole && UInt64(commits.count) == version.rawValue - first ? commits : nil
  }

  /// The rows of a chunk; nil if the image does not have them.
  @inline(__always) final func frame(
    _ frames: inout LaneCursor<ChunkFrame>, _ lanes: TableLanes, _ table: TableState, _ number: Int64
  ) throws(StorageError) -> UnsafePointer<ChunkFrame>? {
    if let frame = frames.slot(number) { return frame }
    return try readFrame(lanes, table, number)
  }

  /// The same for access in no order.
  @inline(__always) final func frame(
    _ frames: LaneView<ChunkFrame>, _ lanes: TableLanes, _ table: TableState, _ number: Int64
  ) throws(StorageError) -> UnsafePointer<ChunkFrame>? {
    if let frame = frames[number] { return frame }
    return try readFrame(lanes, table, number)
  }

  @inline(never) private final func readFrame(
    _ lanes: TableLanes, _ table: TableState, _ number: Int64
  ) throws(StorageError) -> UnsafePointer<ChunkFrame>? {
    guard lanes.frames.hasRoom(for: number), lanes.hasRoom() else { return nil }
    if let bytes = try value(.chunkMap(table.id, number)) {
      let (frame, rows) = try decoding(.chunkMap(table.id, number)) { () throws(StorageError) in
        try ChunkMap.read(bytes, number: number, rowsPerChunk: table.rowsPerChunk, lanes.budget)
      }
      lanes.fill(number, frame, rows)
    } else {
      lanes.fill(number, ChunkFrame(firstKey: table.firstKey(of: number)), nil)
    }
    return lanes.frames[number]
  }

  /// The cell of a chunk with `count` rows; nil if the image does not have it. `cells` are those of the slot.
  @inline(__always) final func cell(
    _ cells: inout LaneCursor<ChunkCell>, _ lanes: TableLanes, _ table: TableState, _ number: Int64, _ slot: Int, count: Int
  ) throws(StorageError) -> UnsafePointer<ChunkCell>? {
    if let cell = cells.slot(number) { return cell }
    return try readCell(cells.view, lanes, table, number, slot, count)
  }

  /// The same for access in no order.
  @inline(__always) final func cell(
    _ cells: LaneView<ChunkCell>, _ lanes: TableLanes, _ table: TableState, _ number: Int64, _ slot: Int, count: Int
  ) throws(StorageError) -> UnsafePointer<ChunkCell>? {
    if let cell = cells[number] { return cell }
    return try readCell(cells, lanes, table, number, slot, count)
  }

  @inline(never) private final func readCell(
    _ cells: LaneView<ChunkCell>, _ lanes: TableLanes, _ table: TableState, _ number: Int64, _ slot: Int, _ count: Int
  ) throws(StorageError) -> UnsafePointer<ChunkCell>? {
    guard cells.hasRoom(for: number), lanes.hasRoom() else { return nil }
    let shape = table.shapes[slot]
    let value = try lastingValue(.column(table.id, shape.property, number))
    if let value, !shape.areOldDates(value.bytes) {
      let column = try decoding(.column(table.id, shape.property, number)) { () throws(StorageError) in
        try DecodedColumn(value.bytes, form: shape.form, count: count)
      }
      let isOwned = value.owner != nil || column.scratch != nil
      lanes.fill(
        number, table, slot, ChunkCell(vector: column.vector, external: column.external),
        isOwned ? CellMemory(value, bitmaps: column.scratch, lanes.budget) : nil)
    } else {
      let column = DecodedColumn(absent: shape, count: count)
      lanes.fill(number, table, slot, ChunkCell(vector: column.vector), CellMemory(absent: shape, lanes.budget))
    }
    return cells[number]
  }

  /// The rows of one chunk for chunk-wise reading, once the transaction has read some chunks.
  final func imageFrame(_ table: TableState, _ number: Int64) throws(StorageError) -> UnsafePointer<ChunkFrame>? {
    if table.lanes == nil {
      table.chunkReads += 1
      if table.chunkReads <= ColumnReading.readsBeforeImage { return nil }
    }
    guard let lanes = try tableLanes(table) else { return nil }
    return try frame(lanes.frames, lanes, table, number)
  }

  /// The cell of a chunk in the base version; nil if this write has changed the chunk's rows.
  final func imageCell(_ table: TableState, _ chunk: Chunk, _ slot: Int) throws(StorageError) -> UnsafePointer<ChunkCell>? {
    guard isImageRead, !chunk.isMapChanged, let lanes = table.lanes else { return nil }
    let cells = lanes.cells(table, slot)
    return try cell(cells, lanes, table, chunk.number, slot, count: chunk.count)
  }
}
