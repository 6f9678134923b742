import StoreValues

/// What can be read in a snapshot and in an open write alike: one version of a store.
///
/// How to read each kind of property:
///
/// | kind | one object | many objects |
/// |---|---|---|
/// | Bool, integers, Float, Double, Date, to-one link | `word`, window | `scan`, `keys(in:)` |
/// | String, Data, UUID, ObjectId (12 bytes) | `bytes`, window | `scan`, `keys(in:)` |
/// | Decimal128 | `bytes`: 16, `Value(bytes:type:)` | `scan` (bytes do not order as values), `keys(in:)` |
/// | mixed | `bytes`: `MixedCoding`, nil is null | `scan` (as before), `keys(in:)` |
/// | list | `elementCount`, `elements`: `columns[0]` in list order | |
/// | set | the same in `Value.order`, null first; `contains(member:)`, `position(of:)` | |
/// | map | `columns[0]` the values, `columns[1]` the keys (String) in key order; `value(forKey:)`, `position(of:)` | |
/// | any of these of links | also `sources(of: ObjectKey, …)` backwards | |
/// | mixed, also collections of it, with links inside | also `sources(of: ObjectLink, …)` backwards | |
/// | embedded object | as a link to an object of its own table; its one owner: `sources` | |
/// | inverse | `sources` of the property it is the inverse of | |
///
/// `value` and `values` read any of them in boxes.
///
/// Query code, live objects and tools read through this protocol alone. It is called very often: `word` and
/// `bytes` for each property a live object reads without a window, the batch calls once for each run of rows.
///
/// **Threads.** One thread at a time. It may move between threads: the calls need no thread of their own.
/// **Memory.** What is lent to a closure ends with the closure. A closure must not call the same transaction's
/// changing methods, and may call its reading ones.
/// **Errors.** `.objectDeleted` (scope statement) for a key that does not live in this version, `.misuse` for a
/// table, column or index that the catalog does not have or that is of another kind than the call wants, and
/// whatever the disk causes (`.io`, `.corrupt`, `.snapshotExpired`, `.closed`).
public protocol StorageReading: AnyObject {
  /// The version that is read; in a write, the version the write began from.
  var version: Version { get }

  /// The schema of this version; in a write, as changed by it.
  var catalog: Catalog { get }

  /// What the transaction can do beyond this protocol: a power it conforms to but does not name here is not used.
  /// O(1). An engine that names them spares its users casts; others have those.
  var powers: StoragePowers { get }

  /// The transaction as what reads side entries; nil where the engine keeps none. Asked once a transaction, by those alone who keep some.
  var sideReading: (any SideReading)? { get }

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

  /// Keys of the objects in a run of an index, in index order, equal entries by ascending key; the whole sequence
  /// backwards when `descending`. In blocks of the engine's choice, never empty.
  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// How many entries a run of an index has, without visiting them where the engine can.
  func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int

  /// The same for all entries with one number in an index over one integer column, without a box.
  func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int

  /// The number of elements of a list, members of a set or keys of a map. O(1) or close to it.
  func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int

  /// Elements of a list, members of a set or values of a map, in order, in batches without object keys; `range` is
  /// of positions in that order and clamped. `columns[0]` has the elements; of a map `columns[1]` has their
  /// keys (UTF-8 bytes, never null).
  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError)

  /// Where a member of a set, or (as a string) a key of a map, stands in the order of iteration; nil when it is not in
  /// it. A set finds what is the same by `Value.order(to:)`. O(log n) where the engine can, else O(n).
  func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int?

  /// Whether a set has the member. O(log n). An engine that finds it faster than by `position` says how.
  func contains(member: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool

  /// The value of a key of a map; nil when the map does not have the key, `.null` when its value is null. O(log n).
  /// An engine that finds it faster than by `position` says how.
  func value(forKey key: String, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Value?

  /// The only object with these values in a unique index; nil when there is none. The first when not unique.
  /// An engine that finds it faster than by `keys` says how; others have that.
  func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey?

  /// The same for an index over one integer column, without a box: what looking objects up by primary key does. Called
  /// once a look-up; others than integer columns are answered as `key(in:equal:)` answers `.int`.
  func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey?

  /// The backlinks of an object: keys of the objects whose to-one link, or list, set or map of links, `column` points to
  /// `target`, ascending; a collection that holds the target twice gives its owner twice. Maintained by the engine for
  /// every relationship. Not an error when the target does not live: nothing points to it.
  func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// The same for an object of any type: `column` may also be mixed, a scalar or a collection, and gives its owner as
  /// often as the target is linked, at any depth of lists and maps. A relationship that points to another type
  /// has none.
  func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// Commit records of the versions in (`version`, this version], ascending. `.historyTrimmed` (scope statement)
  /// when the first of them is gone; then the caller treats everything as changed.
  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError)

  /// Ends the transaction: a read lets go of its version, an open write is rolled back. Idempotent. Dropping
  /// the last reference does the same. Every other call afterwards throws `.closed`.
  func end()
}

/// A snapshot: one committed version, unchanged until ended, whatever is committed meanwhile.
///
/// It holds its version in the file: while it lives, the space of what was replaced since is not reused. It
/// never blocks a writer and no writer blocks it. There is no "begin at version v": a version passes between
/// threads by passing this object.
public protocol ReadTransaction: StorageReading, Sendable {}

extension StorageReading {
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

  /// The elements of a list, members of a set or values of a map, in boxes.
  public func values(_ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>) throws(StorageError) -> [Value] {
    let type = try collectionType(column)
    var result: [Value] = []
    try elements(column, owner, range) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count { result.append(vector.value(at: row, as: type)) }
      return .proceed
    }
    return result
  }

  /// Keys and values of a map, in boxes, in the order of the keys.
  public func entries(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>
  ) throws(StorageError) -> [ValueMap.Entry] {
    guard let entry = catalog[column], case .map(let type) = entry.schema.kind else {
      throw StorageError(.misuse, .statement, "There is no map column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    var result: [ValueMap.Entry] = []
    try elements(column, owner, range) { batch in
      let (values, keys) = (batch.columns[0], batch.columns[1])
      for row in 0..<batch.count {
        result.append(
          ValueMap.Entry(String(decoding: keys.bytes(at: row), as: UTF8.self), values.value(at: row, as: type)))
      }
      return .proceed
    }
    return result
  }

  private func collectionType(_ column: ColumnID) throws(StorageError) -> ValueType {
    guard let schema = catalog[column]?.schema, schema.isCollection, let type = schema.valueType else {
      throw StorageError(
        .misuse, .statement, "There is no collection column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    return type
  }

  /// By `position`.
  public func contains(member: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    guard catalog[column]?.schema.isSet == true else {
      throw StorageError(.misuse, .statement, "There is no set column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    return try position(of: member, in: column, owner) != nil
  }

  /// By `position` and `elements`.
  public func value(
    forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> Value? {
    guard catalog[column]?.schema.isMap == true else {
      throw StorageError(.misuse, .statement, "There is no map column \(column.property.rawValue) in table \(column.table.rawValue).")
    }
    guard let position = try position(of: .string(key), in: column, owner) else { return nil }
    return try values(column, owner, position..<position + 1).first
  }

  /// By `keys`.
  public func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    var result: ObjectKey?
    try keys(in: index, IndexRange(equal: values), descending: false) { keys in
      result = ObjectKey(keys[0])
      return .stop
    }
    return result
  }

  /// By `count(in:_:)`.
  public func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int {
    try count(in: index, IndexRange(equal: [.int(integer)]))
  }

  /// By `key(in:equal:)`.
  public func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    try key(in: index, equal: [.int(integer)])
  }
}

extension ColumnVector {
  /// A row in a box.
  public func value(at row: Int, as type: ValueType) -> Value {
    if isNull(at: row) { return .null }
    return (type.isWord ? Value(word: word(at: row), type: type) : Value(bytes: bytes(at: row), type: type)) ?? .null
  }
}
