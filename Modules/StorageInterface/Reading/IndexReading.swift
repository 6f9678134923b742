import StoreValues

/// Reading indexes.
///
/// `key` is called once for each object that is looked up by primary key, and once for each that is written under one; `keys` and `count`
/// once for each query that the planner answers from an index. On one thread at a time.
public protocol IndexReading: VersionReading {
  /// Keys of the objects in a run of an index, in index order, equal entries by ascending key; the whole sequence
  /// backwards when `descending`. In blocks of the engine's choice, never empty.
  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// How many entries a run of an index has, without visiting them where the engine can.
  func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int

  /// The same for all entries with one number in an index over one integer column, without a box.
  func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int

  /// The only object with these values in a unique index; nil when there is none. The first when not unique.
  /// An engine that finds it faster than by `keys` says how; others have that.
  func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey?

  /// The same for an index over one integer column, without a box: what looking objects up by primary key does. Called
  /// once a look-up; others than integer columns are answered as `key(in:equal:)` answers `.int`.
  func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey?
}

extension IndexReading {
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
