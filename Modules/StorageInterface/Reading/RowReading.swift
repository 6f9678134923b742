import StoreValues

/// Reading objects and their scalar properties.
///
/// `word` and `bytes` are called for each property that a live object reads without a window, which is the hottest path there is;
/// `contains` for each object that is fetched; `count` for every `count` of an unfiltered result; `scan` once for each query that no
/// index answers. On one thread at a time.
public protocol RowReading: VersionReading {
  /// How many objects the table has. O(1) or close to it: `count` of an unfiltered result asks every time.
  func count(_ table: TableID) throws(StorageError) -> Int

  /// Whether the object lives in this version. False, not an error, for keys never given out.
  func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool

  /// The 64-bit word of a scalar column (see `Value.word` for what it means for each type); nil is null.
  /// A fixed-width read without a box. O(log n) or better.
  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64?

  /// The bytes of a scalar column that has no words, lent; nil is null. `body` runs exactly once unless the
  /// call throws.
  func bytes(_ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError)

  /// Rows of `table` with keys from `start` on, ascending, with the asked scalar columns, a batch at a time. The
  /// sizes of batches are the engine's (at most 4,096 rows, at least 1) and may vary; holes are marked in
  /// `live`. `columns` may be empty: then only keys are wanted. Stops early when `body` says so.
  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError)
}

extension RowReading {
  /// The value of a scalar column, in a box: for code that does not know the type.
  public func value(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Value {
    guard let entry = catalog[column], case .scalar(let type) = entry.schema.kind else {
      throw StorageError(.misuse, .statement, "There is no scalar column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    if type.isWord {
      guard let word = try word(column, key) else { return .null }
      return Value(word: word, type: type) ?? .null
    }
    var result = Value.null
    try bytes(column, key) { bytes in
      if let bytes { result = Value(bytes: bytes, type: type) ?? .null }
    }
    return result
  }

  /// Whether a bytes column of an object holds these bytes; nil is null. Copies nothing.
  package func holds(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    var isSame = false
    try self.bytes(column, key) { old in
      guard let old, let bytes else { return isSame = old == nil && bytes == nil }
      isSame = old.elementsEqual(bytes)
    }
    return isSame
  }
}

extension ColumnVector {
  /// A row in a box.
  public func value(at row: Int, as type: ValueType) -> Value {
    if isNull(at: row) { return .null }
    return (type.isWord ? Value(word: word(at: row), type: type) : Value(bytes: bytes(at: row), type: type)) ?? .null
  }
}
