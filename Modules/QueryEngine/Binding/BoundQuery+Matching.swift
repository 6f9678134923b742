import StorageInterface
import StoreValues

extension BoundQuery {
  /// `matches` for many objects; results in their order. Reads the objects' own numeric columns in bulk if the engine can;
  /// ascending keys are fastest. O(keys).
  public func matches(_ keys: [Int64], in storage: any StorageReading) throws(StorageError) -> [Bool] {
    if let gathered = try gatheredMatches(keys, in: storage) { return gathered }
    var result: [Bool] = []
    result.reserveCapacity(keys.count)
    for key in keys { result.append(try matches(ObjectKey(key), in: storage)) }
    return result
  }

  /// nil if the engine or the condition requires reading objects one by one, or if an object is deleted.
  private func gatheredMatches(_ keys: [Int64], in storage: any StorageReading) throws(StorageError) -> [Bool]? {
    guard keys.count >= Gatherer.runMin, let tests = Run.wordTests(plan.condition), !tests.isEmpty,
      let storage = storage.powers.gathering
    else { return nil }
    var result = [Bool](repeating: true, count: keys.count)
    let gatherer = Gatherer(storage)
    do throws(StorageError) {
      for own in tests { try result.narrow(own, keys, gatherer) }
    } catch {
      if error.code == .objectDeleted { return nil }
      throw error
    }
    return result
  }
}

extension [Bool] {
  /// Of the objects still selected, keeps those that pass the test.
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
