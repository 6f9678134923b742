import StorageInterface
import StoreValues

extension BatchEncoder {
  mutating func integers(
    _ type: ValueType, _ filled: [Value], _ values: [Value], _ nulls: UnsafePointer<UInt64>?,
    _ bounds: (min: Int64, max: Int64), _ arena: VectorArena
  ) -> ColumnVector {
    let words = filled.map { $0.word ?? 0 }
    let count = words.count
    if Set(words).count <= 1, random.oneIn(2) {
      return ColumnVector(
        layout: .constantWord, count: count, base: words.first ?? 0, values: arena.empty, nulls: nulls, min: bounds.min,
        max: bounds.max)
    }
    if type == .bool, random.oneIn(2) {
      let bits = UnsafeRawPointer(arena.bits(words.map { $0 != 0 }, rest: random.oneIn(2)))
      return ColumnVector(layout: .bits, count: count, values: bits, nulls: nulls, min: bounds.min, max: bounds.max)
    }
    let low = words.min() ?? 0
    let span = UInt64(bitPattern: (words.max() ?? 0) &- low)
    var layouts: [(ColumnVector.Layout, Int)] = [(.int64, 8)]
    if span <= UInt64(UInt32.max) { layouts.append((.int32, 4)) }
    if span <= UInt64(UInt16.max) { layouts.append((.int16, 2)) }
    if span <= UInt64(UInt8.max) { layouts.append((.int8, 1)) }
    let (layout, width) = layouts.randomElement(using: &random) ?? (.int64, 8)
    // Full width needs no base, but may have one: the sum wraps round.
    let base = width == 8 && random.oneIn(2) ? 0 : low
    let offsets = words.map { UInt64(bitPattern: $0 &- base) }
    return ColumnVector(
      layout: layout, count: count, base: base, values: arena.words(offsets, width: width, shift: random.below(8)),
      nulls: nulls, min: bounds.min, max: bounds.max)
  }

  mutating func doubles(
    _ filled: [Value], _ nulls: UnsafePointer<UInt64>?, _ bounds: (min: Int64, max: Int64), _ arena: VectorArena
  ) -> ColumnVector {
    let words = filled.map { $0.word ?? 0 }
    let isConstant = Set(words).count <= 1 && random.oneIn(2)
    return ColumnVector(
      layout: isConstant ? .constantWord : .float64, count: words.count, base: isConstant ? words.first ?? 0 : 0,
      values: isConstant
        ? arena.empty : arena.words(words.map { UInt64(bitPattern: $0) }, width: 8, shift: random.below(8)),
      nulls: nulls, min: bounds.min, max: bounds.max)
  }

  mutating func floats(
    _ filled: [Value], _ nulls: UnsafePointer<UInt64>?, _ bounds: (min: Int64, max: Int64), _ arena: VectorArena
  ) -> ColumnVector {
    let words = filled.map { $0.word ?? 0 }
    let isConstant = Set(words).count <= 1 && random.oneIn(2)
    return ColumnVector(
      layout: isConstant ? .constantWord : .float32, count: words.count, base: isConstant ? words.first ?? 0 : 0,
      values: isConstant
        ? arena.empty : arena.words(words.map { UInt64(bitPattern: $0) }, width: 4, shift: random.below(8)),
      nulls: nulls, min: bounds.min, max: bounds.max)
  }

  mutating func texts(
    _ type: ValueType, _ filled: [Value], _ nulls: UnsafePointer<UInt64>?, _ arena: VectorArena
  ) -> ColumnVector {
    let texts = filled.map { $0.withBytes(as: type) { $0.map { Array($0) } ?? [] } }
    if Set(texts).count <= 1, random.oneIn(2) {
      let text = texts.first ?? []
      return ColumnVector(
        layout: .constantBytes, count: texts.count, base: Int64(text.count),
        values: arena.bytes(text, shift: random.below(8)), nulls: nulls)
    }
    // The first offset need not be 0.
    let gap = random.below(4)
    var offsets = [UInt64(gap)]
    for text in texts { offsets.append((offsets.last ?? 0) + UInt64(text.count)) }
    let isShort = (offsets.last ?? 0) <= UInt64(UInt16.max) && !random.oneIn(3)
    let bytes = [UInt8](repeating: 0xFF, count: gap) + texts.joined()
    return ColumnVector(
      layout: isShort ? .bytes16 : .bytes32, count: texts.count, values: arena.bytes(bytes, shift: random.below(8)),
      offsets: arena.words(offsets, width: isShort ? 2 : 4, shift: random.below(8)), nulls: nulls)
  }

  mutating func uuids(_ filled: [Value], _ nulls: UnsafePointer<UInt64>?, _ arena: VectorArena) -> ColumnVector {
    let ids = filled.map(\.bytesInArray)
    let isConstant = Set(ids).count <= 1 && random.oneIn(2)
    return ColumnVector(
      layout: isConstant ? .constantBytes : .fixed16, count: ids.count, base: isConstant ? 16 : 0,
      values: arena.bytes(isConstant ? ids.first ?? [] : Array(ids.joined()), shift: random.below(8)), nulls: nulls)
  }
}

extension Value {
  /// A copy of the bytes; empty for what is none.
  public var bytesInArray: [UInt8] { withBytes { $0.map { Array($0) } ?? [] } }
}
