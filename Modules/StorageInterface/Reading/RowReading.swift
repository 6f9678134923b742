import StoreValues

/// Reading objects and their scalar properties.
///
/// `word` and `bytes` are called for each property that a live object reads without a window, the hottest path; `contains` for
/// each object that is fetched; `count` for every `count` of an unfiltered result; `scan` once for each query that no index
/// answers. On one thread at a time.
public protocol RowReading: VersionReading {
  /// The number of objects in the table. O(1) or close to it: every `count` of an unfiltered result calls it.
  func count(_ table: TableID) throws(StorageError) -> Int

  /// Whether the object exists in this version. False, not an error, for keys that were never issued.
  func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool

  /// The 64-bit word of a scalar column (see `Value.word` for its meaning by type); nil is null. A fixed-width read without a
  /// `Value`. O(log n) or better.
  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64?

  /// The bytes of a scalar column without words, lent; nil is null. `body` runs exactly once unless the call throws.
  func bytes(_ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError)

  /// Rows of `table` with keys from `start` on, ascending, with the requested scalar columns, in batches. The engine chooses
  /// the batch sizes (1 to 4,096 rows), which may vary; holes are marked in `live`. `columns` may be empty if only keys are
  /// needed. Ends early if `body` stops.
  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError)
}

extension RowReading {
  /// The value of a scalar column as a `Value`: for code that does not know the type.
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

  /// Whether a bytes column of an object has these bytes; nil is null. Copies nothing.
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
  /// A row as a `Value`.
  public func value(at row: Int, as type: ValueType) -> Value {
    if isNull(at: row) { return .null }
    return (type.isWord ? Value(word: word(at: row), type: type) : Value(bytes: bytes(at: row), type: type)) ?? .null
  }
}
