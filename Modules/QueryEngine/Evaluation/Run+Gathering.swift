import StorageInterface
import StoreValues

/// Reads values of many objects at a time, for engines that return them in one call.
struct Gatherer: ~Copyable {
  static let runMax = 512
  /// Fewer objects are read one by one.
  static let runMin = 16

  private let storage: any GatheringReading
  private let words: UnsafeMutablePointer<Int64>
  private let nulls: UnsafeMutablePointer<Bool>

  init(_ storage: any GatheringReading) {
    self.storage = storage
    words = .allocate(capacity: Gatherer.runMax)
    nulls = .allocate(capacity: Gatherer.runMax)
  }

  deinit {
    words.deallocate()
    nulls.deallocate()
  }

  /// Calls `body` with the position and the word of each object, nil for null. At most `runMax` keys.
  @inline(__always) func read(
    _ column: ColumnID, _ keys: UnsafeBufferPointer<Int64>, _ body: (Int, Int64?) -> Void
  ) throws(StorageError) {
    try storage.words(column, of: keys, into: words, nulls: nulls)
    for i in 0..<keys.count { body(i, nulls[i] ? nil : words[i]) }
  }

  /// Adds the objects' words to a sort lane. At most `runMax` keys.
  func append(_ column: ColumnID, _ keys: UnsafeBufferPointer<Int64>, to lane: SortLane) throws(StorageError) {
    try storage.words(column, of: keys, into: words, nulls: nulls)
    lane.append(words: words, nulls: nulls, count: keys.count)
  }
}

extension Run {
  /// The tests of a conjunction that reads only the object's own word columns; nil for any other condition.
  static func wordTests(_ condition: Condition) -> [OwnTest]? {
    switch condition {
    case .own(let own): return own.type.isWord ? [own] : nil
    case .and(let parts):
      let tests = parts.compactMap { part -> OwnTest? in if case .own(let own) = part, own.type.isWord { own } else { nil } }
      return tests.count == parts.count ? tests : nil
    default: return nil
    }
  }

  /// The keys of objects that pass; nil if the engine or the condition requires reading them one by one.
  func gathered(_ keys: [Int64], _ condition: Condition) throws(StorageError) -> [Int64]? {
    guard keys.count >= Gatherer.runMin, let tests = Run.wordTests(condition),
      let storage = storage.powers.gathering
    else { return nil }
    let gatherer = Gatherer(storage)
    var rest = keys
    for own in tests {
      var passed: [Int64] = []
      passed.reserveCapacity(rest.count)
      for start in stride(from: 0, to: rest.count, by: Gatherer.runMax) {
        let run = rest[start..<min(start + Gatherer.runMax, rest.count)]
        try withRun(run) { (keys: UnsafeBufferPointer<Int64>) throws(StorageError) in
          // Most tests are two bounds; plain numbers avoid reference counting.
          if let bounds = BoundsTest(own) {
            try gatherer.read(own.column, keys) { i, word in if bounds.matches(word: word) { passed.append(keys[i]) } }
          } else {
            try gatherer.read(own.column, keys) { i, word in
              if own.test.matches(word: word, type: own.type) { passed.append(keys[i]) }
            }
          }
        }
      }
      rest = passed
    }
    return rest
  }
}

/// Lends the keys of a slice. The standard library's method does not support a typed error.
func withRun(
  _ run: ArraySlice<Int64>, _ body: (UnsafeBufferPointer<Int64>) throws(StorageError) -> Void
) throws(StorageError) {
  let result = run.withUnsafeBufferPointer { keys -> StorageError? in
    do throws(StorageError) { try body(keys) } catch { return error }
    return nil
  }
  if let result { throw result }
}

extension Sorter {
  /// Adds objects, in as few calls as the engine allows.
  func append(_ keys: [Int64], _ evaluator: Evaluator) throws(StorageError) {
    guard keys.count >= Gatherer.runMin, ordersByOwnNumbers, let storage = evaluator.storage.powers.gathering else {
      for key in keys { try append(key, evaluator) }
      return
    }
    let gatherer = Gatherer(storage)
    for start in stride(from: 0, to: keys.count, by: Gatherer.runMax) {
      try withRun(keys[start..<min(start + Gatherer.runMax, keys.count)]) { (run: UnsafeBufferPointer<Int64>) throws(StorageError) in
        try append(run, gatherer)
      }
    }
  }
}
