import StoreValues

/// Part of a column around one key, which the caller keeps as long as the lender allows: live objects read through it without a
/// call per property.
///
/// Like a batch of one column whose memory outlives the call. Row i always has the key `firstKey + i`: sparse runs are lent as
/// single rows.
public struct ColumnWindow {
  /// The key of the first row.
  public let firstKey: Int64
  /// nil: every row is live. Bit i clear: there is no object in row i.
  public let live: UnsafePointer<UInt64>?
  /// The column's values.
  public let vector: ColumnVector

  @inlinable public init(firstKey: Int64, live: UnsafePointer<UInt64>?, vector: ColumnVector) {
    self.firstKey = firstKey
    self.live = live
    self.vector = vector
  }
}

/// A power of transactions with columns in memory.
public protocol WindowedReading: StorageReading {
  /// The window containing the row of `key`, or nil if no live object has the key.
  ///
  /// Valid until the same column is requested again or the transaction ends; in a write also until the next call that changes,
  /// deletes or inserts anything, in any table, or ends a savepoint. Called once per column and run that is accessed, so it
  /// should cost no more than a point read or two.
  func window(_ column: ColumnID, containing key: ObjectKey) throws(StorageError) -> ColumnWindow?
}
