import Values

/// A power of transactions whose values lie in memory: one column of many objects in one call, where they do not follow
/// each other. What an index finds is read so.
public protocol GatheringReading: StorageReading {
  /// The words of a word column, in the order of `keys`; where `nulls[i]` is true, `words[i]` is unspecified. Both have
  /// room for all of them. Errors as of `word`, in the order of `keys`; what was written by then stays.
  func words(
    _ column: ColumnID, of keys: UnsafeBufferPointer<Int64>, into words: UnsafeMutablePointer<Int64>,
    nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError)
}
