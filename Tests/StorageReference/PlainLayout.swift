import StorageInterface
import StoreValues

/// Batches of 1,024 rows, numbers as 8 bytes, everything else as bytes with 32-bit offsets: all that an engine has to know of layouts.
public struct PlainLayout: BatchLayout {
  public init() {}

  public mutating func batchSize() -> Int { 1024 }
  public mutating func takes(oneIn count: Int) -> Bool { false }

  public mutating func lend(
    firstKey: Int64, keys: [Int64]?, live: [Bool]?, count: Int, columns: [(type: ValueType, values: [Value])],
    _ body: (borrowing ColumnBatch) -> Step
  ) -> Step {
    let memory = LentMemory()
    defer { memory.free() }
    let vectors = columns.map { vector($0.type, $0.values, memory) }
    let keyMemory = keys.map { memory.copy($0) }
    return vectors.withUnsafeBufferPointer { vectors in
      body(
        ColumnBatch(
          firstKey: ObjectKey(firstKey), keys: keyMemory.map { UnsafePointer($0) }, count: count,
          live: live.map { memory.bits($0) }, columns: vectors))
    }
  }

  private func vector(_ type: ValueType, _ values: [Value], _ memory: LentMemory) -> ColumnVector {
    let nulls = values.contains(where: \.isNull) ? memory.bits(values.map(\.isNull)) : nil
    let words = values.map { $0.word ?? 0 }
    switch type.physical {
    case .integer:
      // Bounds that say nothing are always true.
      return ColumnVector(
        layout: .int64, count: values.count, base: 0, values: memory.copy(words), nulls: nulls, min: .min, max: .max)
    case .double:
      return ColumnVector(
        layout: .float64, count: values.count, base: 0, values: memory.copy(words), nulls: nulls, min: .min, max: .max)
    case .float:
      let floats = words.map { UInt32(truncatingIfNeeded: $0) }
      return ColumnVector(
        layout: .float32, count: values.count, base: 0, values: memory.copy(floats), nulls: nulls, min: .min, max: .max)
    case .bytes16:
      let joined = values.flatMap { $0.isNull ? [UInt8](repeating: 0, count: 16) : bytes(of: $0, type) }
      return ColumnVector(layout: .fixed16, count: values.count, base: 0, values: memory.copy(joined), nulls: nulls)
    case .bytes:
      var offsets: [UInt32] = [0]
      var joined: [UInt8] = []
      for value in values {
        joined += bytes(of: value, type)
        offsets.append(UInt32(joined.count))
      }
      return ColumnVector(
        layout: .bytes32, count: values.count, values: memory.copy(joined), offsets: memory.copy(offsets), nulls: nulls)
    }
  }

  private func bytes(of value: Value, _ type: ValueType) -> [UInt8] { value.withBytes(as: type) { $0.map { Array($0) } ?? [] } }
}

/// The memory of one batch, freed as a whole.
final class LentMemory {
  private var blocks: [UnsafeMutableRawPointer] = []

  /// A copy of an array of plain numbers.
  func copy<Number: BitwiseCopyable>(_ numbers: [Number]) -> UnsafeMutablePointer<Number> {
    let block = UnsafeMutableRawPointer.allocate(byteCount: max(8, numbers.count * MemoryLayout<Number>.stride), alignment: 8)
    blocks.append(block)
    let typed = block.bindMemory(to: Number.self, capacity: max(1, numbers.count))
    typed.initialize(from: numbers, count: numbers.count)
    return typed
  }

  /// A bitmap in words of 64, the lowest bit first.
  func bits(_ bits: [Bool]) -> UnsafePointer<UInt64> {
    var words = [UInt64](repeating: 0, count: max(1, (bits.count + 63) / 64))
    for (row, bit) in bits.enumerated() where bit { words[row / 64] |= 1 << UInt64(row % 64) }
    return UnsafePointer(copy(words))
  }

  func free() {
    for block in blocks { block.deallocate() }
    blocks = []
  }
}
