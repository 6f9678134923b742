import StorageInterface
import StoreValues

/// A test of one scalar in its stored form: which words or bytes pass, and whether null does. Binding converts the constants
/// exactly to the column's type once, so no value is converted per row.
struct ScalarTest: Sendable {
  enum Kind: Sendable {
    /// No value passes; null may.
    case none
    /// Words between the two, both inclusive.
    case words(Int64, Int64)
    case wordSet(WordMembership)
    /// Doubles between the two, both inclusive; NaN never passes.
    case doubles(Double, Double)
    case floats(Float, Float)
    /// Doubles, or floats widened: sorted, without NaN.
    case doubleSet([Double])
    case bytes(BytesTest)
  }

  var kind: Kind
  var matchesNull: Bool

  init(_ kind: Kind, matchesNull: Bool = false) {
    self.kind = kind
    self.matchesNull = matchesNull
  }

  static let isNull = ScalarTest(.none, matchesNull: true)
  static let never = ScalarTest(.none)

  /// Whether nothing passes.
  var isEmpty: Bool {
    if matchesNull { return false }
    if case .none = kind { return true }
    return false
  }

  /// Whether only the presence of a value matters.
  var isPresence: Bool {
    if case .none = kind { true } else { false }
  }

  var cost: Int {
    switch kind {
    case .none: 0
    case .words: 1
    case .doubles, .floats: 2
    case .wordSet, .doubleSet: 4
    case .bytes(let test): test.cost
    }
  }
}

extension ScalarTest {
  /// Tests a row of a word column; nil is null.
  func matches(word: Int64?, type: ValueType) -> Bool {
    guard let word else { return matchesNull }
    switch kind {
    case .none, .bytes: return false
    case .words(let low, let high): return low <= word && word <= high
    case .wordSet(let set): return set.contains(word)
    case .doubles(let low, let high):
      let value = Double(bitPattern: UInt64(bitPattern: word))
      return low <= value && value <= high
    case .floats(let low, let high):
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: word))
      return low <= value && value <= high
    case .doubleSet(let set):
      let value =
        type.physical == .float
        ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))) : Double(bitPattern: UInt64(bitPattern: word))
      return set.containsSorted(value)
    }
  }

  /// Tests a row of a bytes column; nil is null.
  func matches(bytes: UnsafeRawBufferPointer?) -> Bool {
    guard let bytes else { return matchesNull }
    if case .bytes(let test) = kind { return test.matches(bytes) }
    return false
  }

  /// The conjunction of both tests; nil if it is no single test. Only for tests of one column.
  func intersection(_ other: ScalarTest) -> ScalarTest? {
    let matchesNull = matchesNull && other.matchesNull
    switch (kind, other.kind) {
    case (.none, _), (_, .none): return ScalarTest(.none, matchesNull: matchesNull)
    case (.words(let a, let b), .words(let c, let d)):
      return .words(max(a, c), min(b, d), matchesNull: matchesNull)
    case (.doubles(let a, let b), .doubles(let c, let d)):
      return .doubles(max(a, c), min(b, d), matchesNull: matchesNull)
    case (.floats(let a, let b), .floats(let c, let d)):
      return .floats(max(a, c), min(b, d), matchesNull: matchesNull)
    case (.bytes(.range(let a)), .bytes(.range(let b))):
      return ScalarTest(.bytes(.range(a.intersection(b))), matchesNull: matchesNull)
    default: return nil
    }
  }

  static func words(_ low: Int64, _ high: Int64, matchesNull: Bool = false) -> ScalarTest {
    ScalarTest(low <= high ? .words(low, high) : .none, matchesNull: matchesNull)
  }
  static func doubles(_ low: Double, _ high: Double, matchesNull: Bool = false) -> ScalarTest {
    ScalarTest(low <= high ? .doubles(low, high) : .none, matchesNull: matchesNull)
  }
  static func floats(_ low: Float, _ high: Float, matchesNull: Bool = false) -> ScalarTest {
    ScalarTest(low <= high ? .floats(low, high) : .none, matchesNull: matchesNull)
  }
}

/// A set of words for `IN`: a bitmap if they lie close together, else sorted.
struct WordMembership: Sendable {
  /// Ascending, without duplicates; never empty.
  let sorted: [Int64]
  private let bits: [UInt64]
  private static let bitmapSpan: UInt64 = 1 << 16

  /// nil if there are no words.
  init?(_ words: some Sequence<Int64>) {
    var sorted: [Int64] = []
    for word in words.sorted() where word != sorted.last { sorted.append(word) }
    guard let first = sorted.first, let last = sorted.last else { return nil }
    self.sorted = sorted
    let span = UInt64(bitPattern: last &- first)
    guard span < WordMembership.bitmapSpan else {
      bits = []
      return
    }
    var bits = [UInt64](repeating: 0, count: Int(span >> 6) + 1)
    for word in sorted {
      let offset = Int(word &- first)
      bits[offset >> 6] |= 1 << UInt64(offset & 63)
    }
    self.bits = bits
  }

  func contains(_ word: Int64) -> Bool {
    let offset = UInt64(bitPattern: word &- sorted[0])  // never empty
    if !bits.isEmpty { return offset >> 6 < UInt64(bits.count) && bits[Int(offset >> 6)] >> (offset & 63) & 1 == 1 }
    return sorted.containsSorted(word)
  }
}

extension Array where Element: Comparable {
  /// Whether the sorted array has the element. O(log n). False for NaN.
  func containsSorted(_ element: Element) -> Bool {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == element
  }
}
