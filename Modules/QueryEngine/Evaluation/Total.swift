import CVivariumSystem
import StorageInterface
import StoreValues

/// The result of an aggregate in one pass: count, sum, least and greatest of the non-null values. Dates have no sum; their NaN
/// is excluded by `lowest`.
struct Total {
  enum Kind { case integer, real }

  let type: ValueType
  let kind: Kind
  /// The aggregate that is computed.
  let part: ColumnTotal.Part
  private var sums: Bool { part == .sum || part == .mean }
  /// Smaller words are ignored: the NaN of dates.
  private let lowest: Int64
  private(set) var count = 0
  /// Wide enough for any number of Int64 values: overflow is detected at the end, not on the way.
  private(set) var integers: Int128 = 0
  private(set) var reals = RealSum()
  private var leastInteger = Int64.max
  private var greatestInteger = Int64.min
  private var leastReal = Double.infinity
  private var greatestReal = -Double.infinity

  init(_ type: ValueType, _ part: ColumnTotal.Part) {
    self.type = type
    self.part = part
    lowest = type == .date ? Timestamp.negativeInfinity.word : .min
    kind = type.physical == .integer ? .integer : .real
  }

  /// A result that the engine computed.
  init(_ type: ValueType, _ found: ColumnTotal, _ part: ColumnTotal.Part) {
    self.init(type, part)
    count = found.bound == nil ? found.count : 1
    integers = found.integers
    reals = found.reals
    guard let bound = found.bound else { return }
    if kind == .integer {
      (leastInteger, greatestInteger) = (bound, bound)
    } else {
      let real = Kernels.real(bound, type)
      (leastReal, greatestReal) = (real, real)
    }
  }

  mutating func add(_ word: Int64) {
    if word < lowest { return }
    count += 1
    if kind == .integer {
      integers += Int128(word)
      leastInteger = min(leastInteger, word)
      greatestInteger = max(greatestInteger, word)
      return
    }
    let value = Kernels.real(word, type)
    reals.add(value)
    if value.isNaN { return }
    leastReal = min(leastReal, value)
    greatestReal = max(greatestReal, value)
  }

  var least: Value { value(leastInteger, leastReal) }
  var greatest: Value { value(greatestInteger, greatestReal) }

  private func value(_ integer: Int64, _ real: Double) -> Value {
    if kind == .integer {
      // No value was added, or only NaN.
      return leastInteger > greatestInteger ? .null : Value(word: integer, type: type == .date ? .date : .int64) ?? .null
    }
    // No value was added, or only NaN: anything else would have moved a bound.
    if leastReal > greatestReal { return .null }
    switch type {
    case .float: return .float(Float(real))
    default: return .double(real)
    }
  }
}

extension Total {
  /// Adds the rows of a column that are in the mask.
  mutating func add(_ vector: ColumnVector, _ mask: Mask, _ rows: Int, _ scratch: Scratch) {
    let words = Masks.words(for: rows)
    if let nulls = vector.nulls { Masks.subtract(mask, nulls, words) }
    let selected = Masks.count(mask, words)
    if selected == 0 { return }
    if isSettled(by: vector) {
      count += selected
      return
    }
    let isWhole = selected == rows
    let isPlain = isWhole && vector.base >= lowest
    switch (kind, vector.layout) {
    case (.integer, .int8) where isWhole && sums:
      integers += Int128(vector.base) * Int128(rows) + Int128(cs_sum8(vector.values, rows))
    case (.integer, .int8) where isPlain: addNarrow(UInt8.self, vector, rows)
    case (.integer, .int16) where isPlain: addNarrow(UInt16.self, vector, rows)
    case (.integer, .int32) where isPlain: addNarrow(UInt32.self, vector, rows)
    case (.integer, .constantWord) where vector.base >= lowest:
      integers += Int128(vector.base) * Int128(selected)
      leastInteger = min(leastInteger, vector.base)
      greatestInteger = max(greatestInteger, vector.base)
    case (.real, _):
      count += selected
      return addReals(vector, mask, words, selected, isWhole: isWhole, scratch)
    default:
      Masks.forEach(mask, words) { row in
        let word = vector.word(at: row)
        if word < lowest { return }
        integers &+= Int128(word)
        leastInteger = min(leastInteger, word)
        greatestInteger = max(greatestInteger, word)
      }
    }
    count += selected
  }

  /// Whether no row of a column can improve the bound.
  private func isSettled(by vector: ColumnVector) -> Bool {
    switch part {
    case .sum, .mean: return false
    case .least:
      if kind == .integer { return count > 0 && vector.min >= leastInteger }
      return leastReal <= greatestReal && vector.min >= ZoneHint.ordinal(of: leastReal)
    case .greatest:
      if kind == .integer { return count > 0 && vector.max <= greatestInteger }
      return leastReal <= greatestReal && vector.max <= ZoneHint.ordinal(of: greatestReal)
    }
  }

  @inline(__always)
  private mutating func addNarrow<T: FixedWidthInteger & UnsignedInteger>(_: T.Type, _ vector: ColumnVector, _ rows: Int) {
    let values = vector.values
    if sums {
      var sum: UInt64 = 0
      for row in 0..<rows {
        sum &+= UInt64(truncatingIfNeeded: values.loadUnaligned(fromByteOffset: row &* MemoryLayout<T>.size, as: T.self))
      }
      integers += Int128(vector.base) * Int128(rows) + Int128(sum)
      return
    }
    var (least, greatest): (T, T) = (.max, .min)
    for row in 0..<rows {
      let value = values.loadUnaligned(fromByteOffset: row &* MemoryLayout<T>.size, as: T.self)
      least = min(least, value)
      greatest = max(greatest, value)
    }
    leastInteger = min(leastInteger, vector.base &+ Int64(truncatingIfNeeded: least))
    greatestInteger = max(greatestInteger, vector.base &+ Int64(truncatingIfNeeded: greatest))
  }

  private mutating func addReals(
    _ vector: ColumnVector, _ mask: Mask, _ words: Int, _ selected: Int, isWhole: Bool, _ scratch: Scratch
  ) {
    var values = vector.values
    if !isWhole || vector.layout != .float64 {
      // The selected values, contiguous in the scratch's first column.
      let gathered = UnsafeMutableRawPointer(scratch.left).assumingMemoryBound(to: Double.self)
      var next = 0
      Masks.forEach(mask, words) { row in
        gathered[next] = Kernels.real(vector.word(at: row), type)
        next &+= 1
      }
      values = UnsafeRawPointer(gathered)
    }
    if sums { reals.add(values, selected) } else { addExtremes(values, selected) }
  }

  /// Eight at a time, each lane by itself; NaN fails both comparisons.
  private mutating func addExtremes(_ values: UnsafeRawPointer, _ count: Int) {
    withUnsafeTemporaryAllocation(of: Double.self, capacity: 16) { lanes in
      for i in 0..<8 {
        lanes[i] = leastReal
        lanes[8 &+ i] = greatestReal
      }
      var row = 0
      while row &+ 8 <= count {
        for i in 0..<8 {
          let value = values.loadUnaligned(fromByteOffset: (row &+ i) &* 8, as: Double.self)
          lanes[i] = value < lanes[i] ? value : lanes[i]
          lanes[8 &+ i] = value > lanes[8 &+ i] ? value : lanes[8 &+ i]
        }
        row &+= 8
      }
      while row < count {
        let value = values.loadUnaligned(fromByteOffset: row &* 8, as: Double.self)
        lanes[0] = value < lanes[0] ? value : lanes[0]
        lanes[8] = value > lanes[8] ? value : lanes[8]
        row &+= 1
      }
      for i in 0..<8 {
        leastReal = min(leastReal, lanes[i])
        greatestReal = max(greatestReal, lanes[8 &+ i])
      }
    }
  }
}
