import StoreValues

/// A column round one key, kept by the caller for as long as its lender says: how live objects read without
/// a call per property.
///
/// Like a batch of one column whose memory outlives the call. Row i is `firstKey + i`, always: sparse runs
/// are given as one row.
public struct ColumnWindow {
  /// The key of the first row.
  public let firstKey: Int64
  /// nil: every row lives. Bit i clear: there is no object in row i.
  public let live: UnsafePointer<UInt64>?
  /// The column's values.
  public let vector: ColumnVector

  @inlinable public init(firstKey: Int64, live: UnsafePointer<UInt64>?, vector: ColumnVector) {
    self.firstKey = firstKey
    self.live = live
    self.vector = vector
  }
}

/// A power of transactions whose columns lie in memory.
public protocol WindowedReading: StorageReading {
  /// The window with the row of `key`, or nil when no live object has the key.
  ///
  /// Valid until the same column is asked again or the transaction ends; in a write also until the next call that changes,
  /// deletes or inserts anything, in any table, or ends a savepoint. Called once for each column and run that is touched, so it
  /// should cost no more than a point read or two.
  func window(_ column: ColumnID, containing key: ObjectKey) throws(StorageError) -> ColumnWindow?
}
