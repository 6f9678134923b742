import StoreValues

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

extension StorageReading {
  /// The words of many objects, each nil for null, read together where the engine can do that. Errors as of `word`.
  package func words(_ column: ColumnID, of keys: [Int64]) throws(StorageError) -> [Int64?] {
    var result: [Int64?] = []
    result.reserveCapacity(keys.count)
    // Few are read sooner one by one.
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
