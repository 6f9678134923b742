import StorageInterface
import StorageReference
import StoreValues

/// Makes column batches from boxed values, in every layout that a column may have, chosen at random: code that
/// reads batches meets each of them. Null rows and holes hold rubbish.
package struct BatchEncoder: BatchLayout {
  package var random: SeededGenerator

  package init(_ random: SeededGenerator) { self.random = random }

  /// Mostly small, so that little data makes many batches; at most 4,096.
  package mutating func batchSize() -> Int {
    switch random.below(8) {
    case 0: 1
    case 1: 4096
    case 2: 1008
    case 3: 64
    default: Int.random(in: 1...300, using: &random)
    }
  }

  package mutating func takes(oneIn count: Int) -> Bool { random.oneIn(count) }

  /// Encodes the columns, lends the batch and takes the memory back.
  package mutating func lend(
    firstKey: Int64, keys: [Int64]?, live: [Bool]?, count: Int, columns: [(type: ValueType, values: [Value])],
    _ body: (borrowing ColumnBatch) -> Step
  ) -> Step {
    let arena = VectorArena()
    defer { arena.free() }
    let vectors = columns.map { column in
      vector(column.type, column.values, live, arena)
    }
    let liveBits = live.map { arena.bits($0, rest: random.oneIn(2)) }
    return withKeys(keys) { keys in
      vectors.withUnsafeBufferPointer { vectors in
        body(
          ColumnBatch(firstKey: ObjectKey(firstKey), keys: keys, count: count, live: liveBits, columns: vectors))
      }
    }
  }

  private func withKeys(_ keys: [Int64]?, _ body: (UnsafePointer<Int64>?) -> Step) -> Step {
    guard let keys else { return body(nil) }
    return keys.withUnsafeBufferPointer { body($0.baseAddress) }
  }

  /// One column as a vector whose memory is the arena's.
  package mutating func vector(
    _ type: ValueType, _ values: [Value], _ live: [Bool]?, _ arena: VectorArena
  ) -> ColumnVector {
    let hasNulls = values.contains(where: \.isNull)
    let nulls = hasNulls || random.oneIn(8) ? arena.bits(values.map(\.isNull), rest: random.oneIn(2)) : nil
    let filled = fill(type, values)
    switch type.physical {
    case .integer: return integers(type, filled, values, nulls, bounds(type, values, live), arena)
    case .double: return doubles(filled, nulls, bounds(type, values, live), arena)
    case .float: return floats(filled, nulls, bounds(type, values, live), arena)
    case .bytes: return texts(type, filled, nulls, arena)
    case .bytes16: return uuids(filled, nulls, arena)
    }
  }

  /// The values with other rows' values, or zeroes, where they are null.
  private mutating func fill(_ type: ValueType, _ values: [Value]) -> [Value] {
    let present = values.filter { !$0.isNull }
    let zero = type == .link ? .link(ObjectKey(0)) : type == .mixed ? .bool(false) : Value.zero(of: type)
    return values.map { value in
      value.isNull ? present.randomElement(using: &random) ?? zero : value
    }
  }

  /// Over the rows that are neither null nor NaN; sometimes wider.
  private mutating func bounds(_ type: ValueType, _ values: [Value], _ live: [Bool]?) -> (min: Int64, max: Int64) {
    if random.oneIn(4) { return (.min, .max) }
    let ordinals = values.enumerated().compactMap { row, value in
      live?[row] == false ? nil : value.ordinal(type)
    }
    guard let low = ordinals.min(), let high = ordinals.max() else { return (1, 0) }
    let slack = random.oneIn(4) ? Int64(random.below(10)) : 0
    let wider = (low.subtractingReportingOverflow(slack), high.addingReportingOverflow(slack))
    return (wider.0.overflow ? .min : wider.0.partialValue, wider.1.overflow ? .max : wider.1.partialValue)
  }
}
