import StorageInterface
import StoreValues

extension ColumnReading {
  final func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    let (table, position) = try find(index)
    if range.equal.count == 1, case .unbounded = range.lower, case .unbounded = range.upper,
      let word = try onlyWord(table, position, range.equal[0])
    {
      guard var object = try object(ofWord: word, table, position) else { return }
      withUnsafePointer(to: &object) { _ = body(UnsafeBufferPointer(start: $0, count: 1)) }
      return
    }
    guard let (lower, upper) = try IndexCut.bounds(range, table.indexes[position], table.shapes) else { return }
    try objects(table, position, lower, upper, descending: descending, body)
  }

  /// The key of a value for a direct lookup in a unique index of integers, as by primary key, which allocates nothing. Nil also
  /// for a key that this write may have changed.
  @inline(__always) private final func onlyWord(
    _ table: TableState, _ position: Int, _ value: Value
  ) throws(StorageError) -> UInt64? {
    guard case .int(let number) = value else { return nil }
    return try onlyWord(table, position, number)
  }

  @inline(__always) private final func onlyWord(
    _ table: TableState, _ position: Int, _ number: Int64
  ) throws(StorageError) -> UInt64? {
    guard table.isDirect(position) else { return nil }
    let word = IndexKeyCoding.ordinal(number, .integer)
    if let fresh = table.fresh, fresh.count > ColumnReading.freshScanMax { _ = try edits(of: table, position) }
    if let edits = table.edits[position], edits.mayHaveTouched(word: word) { return nil }
    return word
  }

  final func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    if let direct = directIndex, direct.index == index,
      let object = direct.object(ofWord: IndexKeyCoding.ordinal(integer, .integer))
    {
      // Object keys begin at 1.
      return object == 0 ? nil : ObjectKey(object)
    }
    return try findKey(in: index, equalTo: integer)
  }

  @inline(never) private final func findKey(
    in index: IndexID, equalTo integer: Int64
  ) throws(StorageError) -> ObjectKey? {
    try checkOpen()
    let (table, position) = try find(index)
    guard let word = try onlyWord(table, position, integer) else { return try key(in: index, equal: [.int(integer)]) }
    try findDirectly(index, table, position)
    return try object(ofWord: word, table, position).map { ObjectKey($0) }
  }

  /// Lets the next look-ups in a unique index of integers go past all this, unless there are changes in it, or may be.
  private final func findDirectly(_ index: IndexID, _ table: TableState, _ position: Int) throws(StorageError) {
    if directIndex?.index == index { return }
    let reader = try reader(table, position)
    if isFixed {
      let filter = table.leavesOut(position) ? ColumnReading.filter(table.fresh, table.indexes[position].firstSlot) : nil
      if let filter { table.keep(filter) }
      directIndex = DirectIndex(index, reader, fresh: filter)
    } else if table.edits[position] == nil, table.fresh == nil || !table.lacksFresh(position) {
      directIndex = DirectIndex(index, reader, fresh: nil)
    }
  }

  final func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    try checkOpen()
    let (table, position) = try find(index)
    if values.count == 1, let word = try onlyWord(table, position, values[0]) {
      return try object(ofWord: word, table, position).map { ObjectKey($0) }
    }
    var result: ObjectKey?
    try keys(in: index, IndexRange(equal: values), descending: false) { keys in
      result = ObjectKey(keys[0])
      return .stop
    }
    return result
  }

  final func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int {
    try checkOpen()
    let (table, position) = try find(index)
    guard let (lower, upper) = try IndexCut.bounds(range, table.indexes[position], table.shapes) else { return 0 }
    let reader = try reader(table, position)
    let edits = try edits(of: table, position)
    // Cannot overflow: the record is checked, and edits are in memory.
    if range == .all { return max(0, try reader.countAll() + (edits?.countChange ?? 0)) }
    if let edits { return max(0, try edits.count(reader, lower, upper)) }
    return try reader.count(lower, upper)
  }

  final func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int {
    try checkOpen()
    let (table, position) = try find(index)
    // The edits of a snapshot are the fresh rows' entries, and these rows have the number or not.
    guard table.indexes[position].isWholeNumber, isFixed || table.edits[position] == nil else {
      return try count(in: index, IndexRange(equal: [.int(integer)]))
    }
    let word = IndexKeyCoding.ordinal(integer, .integer)
    let count = try reader(table, position).count(ofWord: word)
    guard let fresh = table.fresh, table.leavesOut(position) else { return count }
    return count + ColumnReading.count(ofWord: word, fresh, table.indexes[position].firstSlot)
  }

  final func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    let entry = try table(column.table).entry
    guard entry[column.property]?.schema.isRelationship == true else {
      throw .misuse("Column \(column.property.rawValue) of '\(entry.name)' is no relationship.")
    }
    try sources(ofWord: target.rawValue, through: column, body)
  }

  /// The owners of a word in the backlinks of a column that has backlinks.
  final func sources(
    ofWord word: Int64, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    let (table, position) = try findBacklinks(column)
    var bytes: [UInt8] = []
    IndexKeyCoding.append(ordinal: UInt64(bitPattern: word) ^ (1 << 63), to: &bytes)
    try objects(
      table, position, IndexCut(bytes: bytes, isAfter: false), IndexCut(bytes: bytes, isAfter: true),
      descending: false, body)
  }

  final func find(_ index: IndexID) throws(StorageError) -> (TableState, Int) {
    // Forgotten when the table's indexes change.
    if let found = foundIndex, found.index == index { return (found.table, found.position) }
    guard let id = map.table(of: index) else { throw .misuse("The catalog has no index \(index.rawValue).") }
    let table = try table(id)
    guard let position = table.indexes.firstIndex(where: { $0.reference == .index(index) }) else {
      throw .misuse("The catalog has no index \(index.rawValue).")
    }
    foundIndex = (index, table, position)
    return (table, position)
  }

  @inline(__always) final func reader(_ table: TableState, _ position: Int) throws(StorageError) -> IndexReader {
    if let reader = table.readers[position] { return reader }
    let reader = try IndexReader(
      table.indexes[position], snapshot, engine.structures, catalog, file: engine.store.traits.file)
    table.readers[position] = reader
    return reader
  }

  final func objects(
    _ table: TableState, _ position: Int, _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    let reader = try reader(table, position)
    if let edits = try edits(of: table, position) {
      try edits.objects(reader, lower, upper, descending: descending, body)
    } else {
      try reader.objects(lower, upper, descending: descending, body)
    }
  }

  final func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    guard version < self.version else { return }
    var expected = version.next.rawValue
    var failure: StorageError?
    var hasStopped = false
    let current = self.version.rawValue
    try EntryKey.history(expected).withBytes { from throws(StorageError) in
      try snapshot.visit(from: from, sharing: 1, reverse: false) { key, value in
        guard key.count == 9 else { return .stop }
        let number = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
        guard number == expected, number <= current else { return .stop }
        do throws(StorageError) {
          expected &+= 1
          hasStopped = body(try CommitRecord(version: Version(number), encoded: value)) == .stop
          return hasStopped ? .stop : .proceed
        } catch {
          failure = named(error, .history(number))
          return .stop
        }
      }
    }
    if let failure { throw failure }
    if !hasStopped, expected <= current {
      throw StorageError(
        .historyTrimmed, .statement, "The commit record of \(Version(expected)) is gone.", remedy: "Treat everything as changed.")
    }
  }
}
