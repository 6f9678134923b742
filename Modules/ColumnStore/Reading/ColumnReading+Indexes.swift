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
      let word = onlyWord(table, position, range.equal[0])
    {
      guard var object = try reader(table, position).object(ofWord: word) else { return }
      withUnsafePointer(to: &object) { _ = body(UnsafeBufferPointer(start: $0, count: 1)) }
      return
    }
    guard let (lower, upper) = try IndexCut.bounds(range, table.indexes[position], table.shapes) else { return }
    try objects(table, position, lower, upper, descending: descending, body)
  }

  /// The key of a value for a direct lookup in a unique index of integers, as by primary key, which allocates nothing. Nil also
  /// for a key that this write may have changed.
  @inline(__always) private final func onlyWord(_ table: TableState, _ position: Int, _ value: Value) -> UInt64? {
    guard case .int(let number) = value else { return nil }
    return onlyWord(table, position, number)
  }

  @inline(__always) private final func onlyWord(_ table: TableState, _ position: Int, _ number: Int64) -> UInt64? {
    guard table.isDirect(position) else { return nil }
    let word = IndexKeyCoding.ordinal(number, .integer)
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
    guard let word = onlyWord(table, position, integer) else { return try key(in: index, equal: [.int(integer)]) }
    let reader = try reader(table, position)
    if table.edits[position] == nil { directIndex = DirectIndex(index, reader) }
    return try reader.object(ofWord: word).map { ObjectKey($0) }
  }

  final func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    try checkOpen()
    let (table, position) = try find(index)
    if values.count == 1, let word = onlyWord(table, position, values[0]) {
      return try reader(table, position).object(ofWord: word).map { ObjectKey($0) }
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
    // Cannot overflow: the record is checked, and edits are in memory.
    if range == .all { return max(0, try reader.countAll() + (table.edits[position]?.countChange ?? 0)) }
    if let edits = table.edits[position] { return max(0, try edits.count(reader, lower, upper)) }
    return try reader.count(lower, upper)
  }

  final func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int {
    try checkOpen()
    let (table, position) = try find(index)
    guard table.indexes[position].isWholeNumber, table.edits[position] == nil else {
      return try count(in: index, IndexRange(equal: [.int(integer)]))
    }
    return try reader(table, position).count(ofWord: IndexKeyCoding.ordinal(integer, .integer))
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
    let table = try table(column.table)
    guard let position = table.indexes.firstIndex(where: { $0.reference == .backlinks(column) }) else {
      throw .misuse("Column \(column.property.rawValue) of '\(table.entry.name)' is no relationship.")
    }
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
    if let edits = table.edits[position] {
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
