import QueryModel
import StorageInterface
import StoreValues

/// Evaluates a bound condition over batches of rows and over single rows.
struct Evaluator {
  let storage: any StorageReading
  /// The objects enclosing the element that a SUBQUERY tests, from the outermost inwards.
  var outers: [ObjectKey] = []

  /// How many scratch masks `evaluate` needs for the condition.
  static func depth(of condition: Condition) -> Int {
    switch condition {
    case .constant, .row, .pair, .own: 1
    case .not(let inner): depth(of: inner)
    case .and(let parts), .or(let parts): 2 + (parts.map(depth).max() ?? 0)
    }
  }

  /// Sets in `mask` the rows of `among` that pass. `level` is the first free scratch mask.
  func evaluate(
    _ condition: Condition, _ batch: BatchView, among: UnsafePointer<UInt64>, into mask: Mask, _ scratch: Scratch,
    level: Int, reads: inout Int
  ) throws(StorageError) {
    let words = batch.words
    switch condition {
    case .constant(let value):
      if value { Masks.copy(among, to: mask, words) } else { Masks.clear(mask, words) }
    case .own(let own):
      evaluate(own.test, own.type, batch.columns[own.slot], batch.count, into: mask, scratch)
      Masks.and(mask, among, words)
    case .pair(let pair):
      evaluate(pair, batch, into: mask, scratch)
      Masks.and(mask, among, words)
    case .not(let inner):
      try evaluate(inner, batch, among: among, into: mask, scratch, level: level, reads: &reads)
      for i in 0..<words { mask[i] = among[i] & ~mask[i] }
    case .and(let parts):
      // Each part tests only the rows that the parts before left. Two masks alternate; the last part fills the caller's.
      var rest = among
      for (i, part) in parts.enumerated() {
        let target = i == parts.count - 1 ? mask : scratch.mask(level + (i & 1))
        try evaluate(part, batch, among: rest, into: target, scratch, level: level + 2, reads: &reads)
        if Masks.isEmpty(target, words) { return Masks.clear(mask, words) }
        rest = UnsafePointer(target)
      }
      if parts.isEmpty { Masks.copy(among, to: mask, words) }
    case .or(let parts):
      let (rest, part) = (scratch.mask(level), scratch.mask(level + 1))
      Masks.copy(among, to: rest, words)
      Masks.clear(mask, words)
      for condition in parts {
        try evaluate(condition, batch, among: rest, into: part, scratch, level: level + 2, reads: &reads)
        Masks.or(mask, part, words)
        Masks.subtract(rest, part, words)
        if Masks.isEmpty(rest, words) { break }
      }
    case .row(let test):
      Masks.clear(mask, words)
      try Masks.forEach(among, words) { (row: Int) throws(StorageError) in
        reads += 1
        if try matches(test, ObjectKey(batch.key(row))) { mask[row &>> 6] |= 1 &<< UInt64(row & 63) }
      }
    }
  }

  /// Tests one column, nulls included.
  func evaluate(
    _ test: ScalarTest, _ type: ValueType, _ vector: ColumnVector, _ rows: Int, into mask: Mask, _ scratch: Scratch
  ) {
    let words = Masks.words(for: rows)
    switch test.kind {
    case .none: Masks.clear(mask, words)
    case .words(let low, let high): Kernels.words(vector, rows, low, high, scratch.flags, into: mask)
    case .doubles(let low, let high): Kernels.doubles(vector, rows, low, high, scratch.flags, into: mask)
    case .floats(let low, let high): Kernels.floats(vector, rows, low, high, scratch.flags, into: mask)
    case .bytes(let test): Kernels.bytes(vector, rows, test, scratch.flags, into: mask)
    case .wordSet(let set):
      Kernels.decode(vector, rows, into: scratch.left)
      for row in 0..<rows { scratch.flags[row] = set.contains(scratch.left[row]) ? 1 : 0 }
      Kernels.pack(scratch.flags, rows, into: mask)
    case .doubleSet(let set):
      Kernels.decode(vector, rows, into: scratch.left)
      for row in 0..<rows {
        scratch.flags[row] = set.containsSorted(Kernels.real(scratch.left[row], type)) ? 1 : 0
      }
      Kernels.pack(scratch.flags, rows, into: mask)
    }
    guard let nulls = vector.nulls else { return }
    if test.matchesNull { Masks.or(mask, nulls, words) } else { Masks.subtract(mask, nulls, words) }
  }

  private func evaluate(_ pair: PairTest, _ batch: BatchView, into mask: Mask, _ scratch: Scratch) {
    let (left, right) = (batch.columns[pair.leftSlot], batch.columns[pair.rightSlot])
    let words = batch.words
    Kernels.pairs(left, right, batch.count, pair, scratch, into: mask)
    for i in 0..<words {
      let (a, b) = (left.nulls?[i] ?? 0, right.nulls?[i] ?? 0)
      let both = pair.comparator == .less ? 0 : a & b
      // A null string is below every non-null string.
      let below = pair.comparator != .equal && pair.leftType == .string ? a & ~b : 0
      mask[i] = mask[i] & ~(a | b) | both | below
    }
  }
}
