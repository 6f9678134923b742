import Storage
import Values

extension BoundQuery {
  /// `matches` of many objects, in their order. What the condition asks of the objects' own numbers is read of many at a
  /// time where the engine can do that; ascending keys are read fastest. O(keys).
  public func matches(_ keys: [Int64], in storage: any StorageReading) throws(StorageError) -> [Bool] {
    var result: [Bool] = []
    result.reserveCapacity(keys.count)
    guard keys.count >= Gatherer.runMin, let tests = Run.wordTests(plan.condition),
      let storage = storage as? any GatheringReading
    else {
      for key in keys { result.append(try matches(ObjectKey(key), in: storage)) }
      return result
    }
    for key in keys { result.append(try storage.contains(plan.table.id, ObjectKey(key))) }
    let gatherer = Gatherer(storage)
    for own in tests { try result.narrow(own, keys, gatherer) }
    return result
  }
}

extension [Bool] {
  /// Of the objects that are left, leaves those that pass the test.
  fileprivate mutating func narrow(
    _ own: OwnTest, _ keys: [Int64], _ gatherer: borrowing Gatherer
  ) throws(StorageError) {
    let left = indices.filter { self[$0] }
    for start in stride(from: 0, to: left.count, by: Gatherer.runMax) {
      let places = left[start..<Swift.min(start + Gatherer.runMax, left.count)]
      var passes = [Bool](repeating: false, count: places.count)
      try withRun(places.map { keys[$0] }[...]) { (run: UnsafeBufferPointer<Int64>) throws(StorageError) in
        try gatherer.read(own.column, run) { i, word in passes[i] = own.test.matches(word: word, type: own.type) }
      }
      for (place, passed) in zip(places, passes) where !passed { self[place] = false }
    }
  }
}
