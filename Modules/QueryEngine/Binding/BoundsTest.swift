import StorageInterface
import StoreValues

/// A test of one column by a lower and an upper bound, as most tests of a scan are. Holds plain numbers, so that copying it
/// from batch to batch costs no reference counting.
struct BoundsTest: Sendable {
  enum Kind: Sendable { case words, doubles, floats }

  let kind: Kind
  let slot: Int
  /// The bit patterns of the bounds, both inclusive.
  let low: Int64
  let high: Int64
  let matchesNull: Bool

  init(kind: Kind, slot: Int, low: Int64, high: Int64, matchesNull: Bool) {
    self.kind = kind
    self.slot = slot
    self.low = low
    self.high = high
    self.matchesNull = matchesNull
  }

  /// nil for a test of another form.
  init?(_ own: OwnTest) {
    slot = own.slot
    matchesNull = own.test.matchesNull
    switch own.test.kind {
    case .words(let least, let greatest):
      kind = .words
      low = least
      high = greatest
    case .doubles(let least, let greatest):
      kind = .doubles
      low = Int64(bitPattern: least.bitPattern)
      high = Int64(bitPattern: greatest.bitPattern)
    case .floats(let least, let greatest):
      kind = .floats
      low = Int64(least.bitPattern)
      high = Int64(greatest.bitPattern)
    default: return nil
    }
  }

  /// Tests one row; nil is null.
  @inline(__always) func matches(word: Int64?) -> Bool {
    guard let word else { return matchesNull }
    switch kind {
    case .words: return low <= word && word <= high
    case .doubles:
      let value = Double(bitPattern: UInt64(bitPattern: word))
      return Double(bitPattern: UInt64(bitPattern: low)) <= value && value <= Double(bitPattern: UInt64(bitPattern: high))
    case .floats:
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: word))
      return Float(bitPattern: UInt32(truncatingIfNeeded: low)) <= value
        && value <= Float(bitPattern: UInt32(truncatingIfNeeded: high))
    }
  }

  /// The condition as bounds that must all hold; nil if a part has another form.
  static func all(of condition: Condition) -> [BoundsTest]? {
    let parts = condition.conjuncts
    let tests = parts.compactMap { part in if case .own(let own) = part { BoundsTest(own) } else { nil } }
    return tests.isEmpty || tests.count < parts.count ? nil : tests
  }

  /// Sets the bits of the rows that pass.
  @inline(__always) func evaluate(_ vector: ColumnVector, _ rows: Int, _ flags: Kernels.Flags, into mask: Mask) {
    switch kind {
    case .words: Kernels.words(vector, rows, low, high, flags, into: mask)
    case .doubles:
      Kernels.doubles(
        vector, rows, Double(bitPattern: UInt64(bitPattern: low)), Double(bitPattern: UInt64(bitPattern: high)), flags, into: mask)
    case .floats:
      Kernels.floats(
        vector, rows, Float(bitPattern: UInt32(truncatingIfNeeded: low)), Float(bitPattern: UInt32(truncatingIfNeeded: high)),
        flags, into: mask)
    }
    guard let nulls = vector.nulls else { return }
    let words = Masks.words(for: rows)
    if matchesNull { Masks.or(mask, nulls, words) } else { Masks.subtract(mask, nulls, words) }
  }

  /// Clears the bits of rows that fail. `part` is a scratch mask.
  @inline(__always)
  func narrow(_ mask: Mask, _ vector: ColumnVector, _ rows: Int, _ flags: Kernels.Flags, _ part: Mask) {
    if kind == .words, vector.nulls == nil, Kernels.narrow(mask, vector, rows, low, high) { return }
    evaluate(vector, rows, flags, into: part)
    Masks.and(mask, part, Masks.words(for: rows))
  }
}

extension Run {
  /// Counts the rows of a scan that pass tests that are all bounds.
  mutating func countedScan(_ tests: [BoundsTest]) throws(StorageError) -> Int {
    let scratch = Scratch(depth: 2)
    var (total, batches, rows) = (0, 0, 0)
    let columns = Array(plan.columns.prefix(plan.conditionColumns))
    try storage.scan(plan.table.id, columns, from: ObjectKey(1), hints: plan.hints) { batch in
      batches &+= 1
      rows &+= batch.count
      scratch.reserve(batch.count)
      let (mask, part) = (scratch.mask(0), scratch.mask(1))
      let words = Masks.words(for: batch.count)
      Masks.fill(mask, rows: batch.count)
      if let live = batch.live { Masks.and(mask, live, words) }
      for i in tests.indices { tests[i].narrow(mask, batch.columns[tests[i].slot], batch.count, scratch.flags, part) }
      total &+= Masks.count(mask, words)
      return .proceed
    }
    statistics.batches += batches
    statistics.rowsScanned += rows
    return total
  }
}
