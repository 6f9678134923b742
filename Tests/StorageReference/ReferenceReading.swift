import StorageInterface
import StoreValues

/// What the snapshot and the write have in common: both read a state.
protocol ReferenceReading: SideReading {
  var engine: ReferenceEngine { get }
  /// The state that is read; throws when the transaction has ended.
  func readable() throws(StorageError) -> ReferenceState
}

extension ReferenceReading {
  public func count(_ table: TableID) throws(StorageError) -> Int {
    let state = try readable()
    _ = try state.entry(table)
    return state.tables[table]?.keys.count ?? 0
  }

  public func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool {
    let state = try readable()
    _ = try state.entry(table)
    return state.tables[table]?.rows[key.rawValue] != nil
  }

  public func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    let state = try readable()
    let (_, type) = try state.scalarType(column)
    guard type.isWord else { throw .misuse("A column of type \(type.rawValue) has no words.") }
    return try state.value(column, key).0.word
  }

  public func bytes(
    _ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    let state = try readable()
    let (_, type) = try state.scalarType(column)
    guard !type.isWord else { throw .misuse("A column of type \(type.rawValue) has no bytes.") }
    try state.value(column, key).0.withBytes(as: type, body)
  }

  public func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    let state = try readable()
    let entry = try state.entry(table)
    var scanned: [(ColumnEntry, ValueType)] = []
    for column in columns { scanned.append(try state.scalarType(entry.column(column))) }
    guard let content = state.tables[table] else { return }
    var scan = ReferenceScan(content, scanned, hints, engine.nextLayout())
    scan.run(from: start.rawValue, body)
  }

  public func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    let keys = try readable().keys(in: index, range)
    lend(descending ? keys.reversed() : keys, body)
  }

  public func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int {
    try readable().keys(in: index, range).count
  }

  public func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    try readable().list(column, owner).0.count
  }

  public func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    let state = try readable()
    let (values, type) = try state.list(column, owner)
    let keys = state.catalog[column]?.schema.isMap == true ? try state.map(column, owner).entries.map(\.key) : nil
    var layout = engine.nextLayout()
    var rest = values[range.clamped(to: values.startIndex..<values.endIndex)]
    while !rest.isEmpty {
      let run = rest.prefix(layout.batchSize())
      rest = rest.dropFirst(run.count)
      var columns = [(type, Array(run))]
      if let keys { columns.append((.string, run.indices.map { .string(keys[$0]) })) }
      let step = layout.lend(
        firstKey: Int64(run.startIndex), keys: nil, live: nil, count: run.count, columns: columns, body)
      if step == .stop { return }
    }
  }

  public func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    lend(try readable().sources(of: target, through: column), body)
  }

  public func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    lend(try readable().sources(of: target, through: column), body)
  }

  public func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    try readable().position(of: value, in: column, owner)
  }

  public func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    for record in try readable().history(after: version) where body(record) == .stop { return }
  }

  public func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) {
    try SideKey.check(key)
    guard let value = try readable().sides[key] else { return body(nil) }
    value.withUnsafeBytes { body($0) }
  }

  public func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }
    let sides = try readable().sides.sorted { precedes($0.key, $1.key) }
    for (key, value) in sides where !precedes(key, start) && end.map({ precedes(key, $0) }) ?? true {
      if key.withUnsafeBytes({ key in value.withUnsafeBytes { body(key, $0) } }) == .stop { return }
    }
  }

  /// In blocks, never empty.
  private func lend(_ keys: [Int64], _ body: (UnsafeBufferPointer<Int64>) -> Step) {
    var layout = engine.nextLayout()
    var rest = keys[...]
    while !rest.isEmpty {
      let block = Array(rest.prefix(layout.batchSize()))
      rest = rest.dropFirst(block.count)
      if block.withUnsafeBufferPointer(body) == .stop { return }
    }
  }
}
