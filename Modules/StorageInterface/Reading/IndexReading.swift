import StoreValues

/// Reading indexes.
///
/// `key` is called once for each object that is looked up by primary key, and once for each that is written with one; `keys`
/// and `count` once for each query that the planner answers from an index. On one thread at a time.
public protocol IndexReading: VersionReading {
  /// The keys of the objects in a run of an index, in index order, equal entries by ascending key; the whole sequence reversed
  /// if `descending`. In blocks of the engine's choice, never empty.
  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// The number of entries in a run of an index, without visiting them if the engine can.
  func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int

  /// The same for all entries with one integer in an index over one integer column, without a `Value`.
  func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int

  /// The object with these values in a unique index; nil if there is none. The first if the index is not unique. Engines with a
  /// faster way than `keys` implement it.
  func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey?

  /// The same for an index over one integer column, without a `Value`: the lookup by primary key. Called once per lookup; for
  /// other columns it is equivalent to `key(in:equal:)` with `.int`.
  func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey?
}

extension IndexReading {
  /// Implemented by `keys`.
  public func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    var result: ObjectKey?
    try keys(in: index, IndexRange(equal: values), descending: false) { keys in
      result = ObjectKey(keys[0])
      return .stop
    }
    return result
  }

  /// Implemented by `count(in:_:)`.
  public func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int {
    try count(in: index, IndexRange(equal: [.int(integer)]))
  }

  /// Implemented by `key(in:equal:)`.
  public func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    try key(in: index, equal: [.int(integer)])
  }
}
