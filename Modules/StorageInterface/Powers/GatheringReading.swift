import StoreValues

/// A power of transactions with values in memory: reads one column of many scattered objects in one call. Used for objects
/// found by an index.
public protocol GatheringReading: StorageReading {
  /// The words of a word column, in the order of `keys`; if `nulls[i]` is true, `words[i]` is unspecified. Both must have room
  /// for all keys. Errors as of `word`, in the order of `keys`; words written before an error remain.
  func words(
    _ column: ColumnID, of keys: UnsafeBufferPointer<Int64>, into words: UnsafeMutablePointer<Int64>,
    nulls: UnsafeMutablePointer<Bool>
  ) throws(StorageError)
}

extension StorageReading {
  /// The words of many objects, nil for null, read in bulk if the engine can. Errors as of `word`.
  package func words(_ column: ColumnID, of keys: [Int64]) throws(StorageError) -> [Int64?] {
    var result: [Int64?] = []
    result.reserveCapacity(keys.count)
    // A few are read faster one by one.
    guard keys.count > 8, let gathering = powers.gathering else {
      for key in keys { result.append(try word(column, ObjectKey(key))) }
      return result
    }
    let wanted = UnsafeMutableBufferPointer<Int64>.allocate(capacity: keys.count)
    let words = UnsafeMutablePointer<Int64>.allocate(capacity: keys.count)
    let nulls = UnsafeMutablePointer<Bool>.allocate(capacity: keys.count)
    defer {
      wanted.deallocate()
      words.deallocate()
      nulls.deallocate()
    }
    _ = wanted.initialize(from: keys)
    try gathering.words(column, of: UnsafeBufferPointer(wanted), into: words, nulls: nulls)
    for i in keys.indices { result.append(nulls[i] ? nil : words[i]) }
    return result
  }
}
