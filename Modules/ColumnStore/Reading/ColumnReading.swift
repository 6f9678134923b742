import StorageCoordination
import StorageInterface
import StoreValues

/// The common part of snapshots and open writes: the tables, chunks and indexes of one version, loaded on demand and cached
/// until the end.
///
/// `@exclusivity(unchecked)`: a transaction is on one thread at a time, and no access to these variables spans a call of a
/// caller's closure.
class ColumnReading {
  let engine: ColumnEngine
  let snapshot: any KeyValueSnapshot
  final let version: Version
  /// The mark of the process that began the transaction.
  private final let mark: ForkMark?
  final var map: CatalogMap {
    didSet {
      foundIndex = nil
      directIndex = nil
      forgetPlaces()
      // The columns are no longer those of the version.
      isImageRead = false
    }
  }
  @exclusivity(unchecked) final var isEnded = false
  /// The number of running calls that have lent memory to a closure, which may end the transaction.
  @exclusivity(unchecked) private final var lendingCount = 0
  @exclusivity(unchecked) private final var tables: [TableState?] = []
  /// The last index that was looked up.
  @exclusivity(unchecked) final var foundIndex: (index: IndexID, table: TableState, position: Int)?
  /// Bytes of long values that are cached for the next scan.
  @exclusivity(unchecked) final var keptLongBytes = 0

  /// The last unique index of integers that was looked up, unless this transaction has changed it.
  @exclusivity(unchecked) final var directIndex: DirectIndex?
  /// Eight columns whose words were read one by one; nil until there is one.
  @exclusivity(unchecked) final var wordPlaces: UnsafeMutablePointer<WordPlaces?>?
  @exclusivity(unchecked) final var wordReads = 0
  /// Whether data never change once read.
  final let isFixed: Bool
  /// Whether chunks are looked up in the process's image.
  final var isImageRead = true
  /// Whether the image knows the commits up to this version.
  @exclusivity(unchecked) final var isImageAtVersion = false

  init(_ engine: ColumnEngine, _ snapshot: any KeyValueSnapshot, isFixed: Bool) throws(StorageError) {
    self.isFixed = isFixed
    self.engine = engine
    self.snapshot = snapshot
    version = snapshot.version
    mark = engine.mark
    do throws(StorageError) { map = try ColumnReading.catalog(snapshot, engine.structures) } catch {
      throw error.placed("the catalog", inFile: engine.store.traits.file)
    }
  }

  final var catalog: Catalog { map.catalog }

  /// Every table opened so far.
  final var openTables: [TableState] { tables.compactMap { $0 } }

  final func checkOpen() throws(StorageError) {
    try mark?.check()
    if isEnded { throw .ended }
  }

  /// Call before lending memory to a closure: it stays valid until `endLending`, even if the closure ends the transaction.
  @inline(__always) final func beginLending() { lendingCount &+= 1 }

  @inline(__always) final func endLending() {
    lendingCount &-= 1
    if isEnded { letGoIfIdle() }
  }

  /// Call when the transaction has ended.
  final func letGoIfIdle() { if lendingCount == 0 { letGo() } }

  /// Releases the version and the transaction's memory. Called once.
  func letGo() {}

  final func forgetTables() {
    tables = []
    foundIndex = nil
    directIndex = nil
    forgetPlaces()
  }

  /// Forgets a table that the catalog no longer has.
  final func forget(_ table: TableState) { tables[Int(table.id.rawValue)] = nil }

  @inline(__always) final func table(_ id: TableID) throws(StorageError) -> TableState {
    let raw = Int(id.rawValue)
    if raw < tables.count, let table = tables[raw] { return table }
    return try openTable(id)
  }

  private final func openTable(_ id: TableID) throws(StorageError) -> TableState {
    try checkOpen()
    guard let shapes = map.shapes(id) else { throw .misuse("The catalog has no table \(id.rawValue).") }
    let table = TableState(shapes, engine.header)
    if let record = try value(.table(.tableRecord, id)) {
      try decoding(.table(.tableRecord, id)) { () throws(StorageError) in try table.read(record: record) }
    }
    try decoding(.table(.freshRows, id)) { () throws(StorageError) in try openFreshRows(table) }
    // Otherwise the next object would get a key that differs from its row's.
    if let fresh = table.fresh, fresh.firstKey + Int64(fresh.count) > table.nextKey {
      throw named(.corrupt("a table gives keys that are in use"), .table(.tableRecord, id))
    }
    let raw = Int(id.rawValue)
    while tables.count <= raw { tables.append(nil) }
    tables[raw] = table
    return table
  }

  /// Decodes the fresh rows, or takes those that the last write left.
  private final func openFreshRows(_ table: TableState) throws(StorageError) {
    if !isFixed, let warm = engine.structures.takeFreshRows(table.id, version: version) {
      table.fresh = warm.chunk
      table.storedFresh = FreshRows.Stored(bytes: warm.encoded.bytes, owner: warm.encoded, positions: warm.chunk.count)
      table.isFreshStored = true
    } else if let rows = try value(.table(.freshRows, table.id)) {
      let fresh = try FreshRows.decode(rows, table.shapes, rowsPerChunk: table.rowsPerChunk, copying: !isFixed)
      table.fresh = fresh
      table.storedFresh = FreshRows.Stored(bytes: rows, owner: nil, positions: fresh.count)
      table.isFreshStored = true
    }
  }

  @inline(__always) final func value(_ key: EntryKey) throws(StorageError) -> UnsafeRawBufferPointer? {
    do throws(StorageError) {
      return try key.withBytes { bytes throws(StorageError) in try snapshot.value(for: bytes) }
    } catch {
      throw named(error, key)
    }
  }

  final func lastingValue(_ key: EntryKey) throws(StorageError) -> LastingValue? {
    do throws(StorageError) {
      return try key.withBytes { bytes throws(StorageError) in try snapshot.lastingValue(for: bytes) }
    } catch {
      throw named(error, key)
    }
  }

  /// Adds the place and the file to a corruption error, with names: the store below knows tables and properties only by number.
  @inline(never) final func named(_ error: StorageError, _ key: EntryKey) -> StorageError {
    error.placed(key.withBytes { EntryName($0)?.place(in: catalog) }, inFile: engine.store.traits.file)
  }

  /// Runs what decodes an entry, whose place a corruption error gets.
  @inline(__always) final func decoding<R>(
    _ key: @autoclosure () -> EntryKey, _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    do throws(StorageError) { return try body() } catch { throw named(error, key()) }
  }
}

extension ColumnReading {
  /// The slot of a scalar column of words or of bytes.
  @inline(__always) final func slot(
    _ table: TableState, _ property: PropertyID, isWord: Bool
  ) throws(StorageError) -> Int {
    guard let slot = table.slot(property), table.traits[slot].isScalar, table.traits[slot].form.isWord == isWord else {
      throw noColumn(table, property, isWord: isWord)
    }
    return slot
  }

  @inline(never) private final func noColumn(
    _ table: TableState, _ property: PropertyID, isWord: Bool
  ) -> StorageError {
    .misuse("Table '\(table.entry.name)' has no scalar column \(property.rawValue) of \(isWord ? "words" : "bytes").")
  }

  /// The slot of a list, set or map.
  final func collectionSlot(_ table: TableState, _ property: PropertyID) throws(StorageError) -> Int {
    guard let slot = table.slot(property), table.shapes[slot].isCollection else {
      throw .misuse("Table '\(table.entry.name)' has no collection column \(property.rawValue).")
    }
    return slot
  }

  final func externalBytes(
    _ table: TableState, _ slot: Int, _ key: Int64
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    let entry = EntryKey.externalValue(table.id, table.shapes[slot].property, key)
    guard let bytes = try value(entry) else { throw named(.corrupt("a long value is missing"), entry) }
    return bytes
  }

  /// A long value for a moment: as long as its owner, if it has one, because a store that decrypts values would keep it until the end.
  final func passingBytes(_ table: TableState, _ slot: Int, _ key: Int64) throws(StorageError) -> LastingValue {
    guard engine.isSealed else { return LastingValue(inPlace: try externalBytes(table, slot, key)) }
    let entry = EntryKey.externalValue(table.id, table.shapes[slot].property, key)
    guard let value = try lastingValue(entry) else { throw named(.corrupt("a long value is missing"), entry) }
    return value
  }

  /// The word of a row; nil is null.
  @inline(__always) final func word(
    _ table: TableState, _ chunk: Chunk, _ position: Int, _ slot: Int
  ) throws(StorageError) -> Int64? {
    try load(table, chunk, slot)
    let cell = chunk.cells + slot
    if let column = cell.pointee.edited { return column.isNull(position) ? nil : column.words[position] }
    return cell.pointee.vector.isNull(at: position) ? nil : cell.pointee.vector.word(at: position)
  }

  /// The bytes of a row, valid until the next change; nil is null.
  final func bytes(
    _ table: TableState, _ chunk: Chunk, _ position: Int, _ slot: Int
  ) throws(StorageError) -> UnsafeRawBufferPointer? {
    try load(table, chunk, slot)
    if let column = chunk.cells[slot].edited {
      if column.isNull(position) { return nil }
      if column.form == .fixed16 { return column.fixedBytes(position) }
      if column.isExternal(position) { return try externalBytes(table, slot, chunk.key(at: position)) }
      return column.slices[position]
    }
    let vector = chunk.cells[slot].vector
    if vector.isNull(at: position) { return nil }
    if let external = chunk.cells[slot].external, Bits.test(external, position) {
      return try externalBytes(table, slot, chunk.key(at: position))
    }
    return vector.bytes(at: position)
  }

  /// A vector over all rows of a chunk, with all bytes in place.
  final func vector(_ table: TableState, _ chunk: Chunk, _ slot: Int) throws(StorageError) -> ColumnVector {
    try load(table, chunk, slot)
    let cell = chunk.cells + slot
    guard let column = cell.pointee.edited else {
      guard cell.pointee.external != nil else { return cell.pointee.vector }
      if let presented = cell.pointee.presented { return presented }
      return try present(rows(table, chunk, slot), table, chunk, slot)
    }
    switch column.form {
    case .bit, .integer, .double:
      return ColumnVector(
        layout: column.form == .double ? .float64 : .int64, count: column.count, values: column.words,
        nulls: column.nullCount > 0 ? UnsafePointer(column.nulls) : nil)
    case .fixed16:
      return ColumnVector(
        layout: .fixed16, count: column.count, values: column.words,
        nulls: column.nullCount > 0 ? UnsafePointer(column.nulls) : nil)
    default:
      if let presented = cell.pointee.presented, cell.pointee.presentedRevision == column.revision { return presented }
      return try present(column, table, chunk, slot)
    }
  }

  /// Encodes an edited column in memory, including values from entries of their own.
  private final func present(
    _ column: EditedColumn, _ table: TableState, _ chunk: Chunk, _ slot: Int
  ) throws(StorageError) -> ColumnVector {
    let encoded: ValueBuffer
    if column.form == .bytes {
      encoded = try encodeWhole(column, table, chunk, slot, rows: 0..<column.count)
    } else {
      encoded = ColumnEncoder.encode(
        words: column.words, nulls: column.nulls, nullCount: column.nullCount, count: column.count, form: column.form)
    }
    let decoded = try DecodedColumn(encoded.bytes, form: column.form, count: column.count)
    chunk.cells[slot].presented = decoded.vector
    chunk.cells[slot].presentedBytes = encoded
    chunk.cells[slot].presentedRevision = column.revision
    return decoded.vector
  }

  /// Encodes byte strings with all bytes of the given rows in place; other rows are empty.
  final func encodeWhole(
    _ column: EditedColumn, _ table: TableState, _ chunk: Chunk, _ slot: Int, rows: Range<Int>
  ) throws(StorageError) -> ValueBuffer {
    var slices = [UnsafeRawBufferPointer](
      repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: max(column.count, 1))
    var owners: [ValueBuffer] = []
    defer { withExtendedLifetime(owners) {} }
    // Dead rows too: a savepoint may restore them without the column's notice. Only their long values may be gone.
    for i in rows where !column.isNull(i) {
      if !column.isExternal(i) {
        slices[i] = column.slices[i]
      } else if Bits.test(chunk.live, i) {
        let value = try passingBytes(table, slot, chunk.key(at: i))
        slices[i] = value.bytes
        if let owner = value.owner { owners.append(owner) }
      } else if let bytes = try value(
        .externalValue(table.id, table.shapes[slot].property, chunk.key(at: i)))
      {
        slices[i] = bytes
      }
    }
    return ColumnEncoder.encode(
      slices: slices, nulls: column.nulls, nullCount: column.nullCount, external: column.nulls, externalCount: 0,
      count: column.count)
  }

  /// The column in a form for reading row by row: the edited column, or a copy that shares the stored bytes.
  final func rows(_ table: TableState, _ chunk: Chunk, _ slot: Int) -> EditedColumn {
    let cell = chunk.cells + slot
    if let column = cell.pointee.edited { return column }
    let copy = EditedColumn(form: table.shapes[slot].form, capacity: chunk.count)
    copy.load(DecodedColumn(vector: cell.pointee.vector, external: cell.pointee.external, scratch: cell.pointee.scratch))
    return copy
  }
}
