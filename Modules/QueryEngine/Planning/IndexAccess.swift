import QueryModel
import StorageInterface
import StoreValues

/// An access that answers part of a condition from an index: the runs to read, and the residual condition.
struct IndexAccess: Sendable {
  let index: IndexEntry
  let ranges: [IndexRange]
  /// How many leading properties of the index are constrained.
  let depth: Int
  let residual: Condition
  /// Whether a run gives its keys in ascending order, because every property of the index is held equal.
  let isAscending: Bool

  /// The most values of `IN` that are turned into runs.
  static let rangesLimit = 1000

  /// Every access that the table's indexes offer, the most selective by form first.
  static func candidates(for condition: Condition, in table: TableEntry) -> [IndexAccess] {
    let parts = condition.conjuncts
    if parts.isEmpty || table.indexes.isEmpty { return [] }
    let all = table.indexes.compactMap { IndexAccess($0, over: parts, in: table) }
    return all.sorted { a, b in
      if a.isAscending != b.isAscending { return a.isAscending }
      return a.depth > b.depth
    }
  }

  private init?(_ index: IndexEntry, over parts: [Condition], in table: TableEntry) {
    var prefixes: [[Value]] = [[]]
    var bounds: (lower: IndexRange.Bound, upper: IndexRange.Bound)?
    var used: [Int] = []
    var depth = 0
    for property in index.properties {
      let tests = parts.indices.compactMap { i -> (Int, IndexTest)? in
        guard case .own(let own) = parts[i], own.column.property == property else { return nil }
        return IndexTest(own).map { (i, $0) }
      }
      if case (let i, .equal(let values))? = tests.first(where: { $0.1.isEqual }),
        prefixes.count * values.count <= IndexAccess.rangesLimit
      {
        prefixes = prefixes.flatMap { prefix in values.map { prefix + [$0] } }
        used.append(i)
        depth += 1
        continue
      }
      if case (let i, .range(let lower, let upper))? = tests.first(where: { !$0.1.isEqual }) {
        bounds = (lower, upper)
        used.append(i)
        depth += 1
      }
      break
    }
    if depth == 0 { return nil }
    self.index = index
    self.depth = depth
    ranges = prefixes.map {
      IndexRange(equal: $0, lower: bounds?.lower ?? .unbounded, upper: bounds?.upper ?? .unbounded)
    }
    residual = Condition.and(parts.indices.filter { !used.contains($0) }.map { parts[$0] }).simplified()
    isAscending = bounds == nil && prefixes.count == 1 && depth == index.properties.count
  }
}

/// A test of one column in the form an index can answer.
enum IndexTest {
  case equal([Value])
  case range(IndexRange.Bound, IndexRange.Bound)

  var isEqual: Bool { if case .equal = self { true } else { false } }

  /// nil if no index can answer the test.
  init?(_ own: OwnTest) {
    let (type, test) = (own.type, own.test)
    let null: [Value] = test.matchesNull ? [.null] : []
    func word(_ word: Int64) -> Value { Value(word: word, type: type) ?? .null }
    switch test.kind {
    case .none: self = .equal(null)
    case .words(let low, let high):
      if low == high || (test.matchesNull && UInt64(bitPattern: high &- low) < 64) {
        self = .equal(null + (low...high).map(word))
        return
      }
      if test.matchesNull { return nil }
      self = .range(low == .min ? .excluding(.null) : .including(word(low)), high == .max ? .unbounded : .including(word(high)))
    case .wordSet(let set): self = .equal(null + set.sorted.map(word))
    case .doubles(let low, let high):
      func value(_ x: Double) -> Value { word(Int64(bitPattern: x.bitPattern)) }
      if low == high { self = .equal(null + [value(low)]) } else if test.matchesNull { return nil } else {
        self = .range(.including(value(low)), .including(value(high)))
      }
    case .floats(let low, let high):
      if low == high { self = .equal(null + [.float(low)]) } else if test.matchesNull { return nil } else {
        self = .range(.including(.float(low)), .including(.float(high)))
      }
    case .doubleSet(let set):
      if type.physical == .float {
        self = .equal(null + set.compactMap { Float(exactly: $0).map(Value.float) })
      } else {
        self = .equal(null + set.map { word(Int64(bitPattern: $0.bitPattern)) })
      }
    case .bytes(let test): self.init(test, type, matchesNull: own.test.matchesNull)
    }
  }

  private init?(_ test: BytesTest, _ type: ValueType, matchesNull: Bool) {
    let null: [Value] = matchesNull ? [.null] : []
    func value(_ bytes: [UInt8]) -> Value { bytes.withUnsafeBytes { Value(bytes: $0, type: type) } ?? .null }
    switch test {
    case .equal(let bytes): self = .equal(null + [value(bytes)])
    case .set(let set): self = .equal(null + set.map(value))
    case .suffix, .contains, .text: return nil
    case .value(let test):
      guard test.type == .decimal, test.comparator == .equal || test.comparator == .in else { return nil }
      self = .equal(null + test.constants.filter { !$0.isNaN })
    case .prefix(let prefix):
      if matchesNull { return nil }
      let upper = type == .string ? IndexTest.successor(ofText: prefix) : IndexTest.successor(of: prefix)
      self = .range(.including(value(prefix)), upper.map { .excluding(value($0)) } ?? .unbounded)
    case .range(let range):
      let upper = range.upper.map(value)
      let high = upper.map { range.includesUpper ? IndexRange.Bound.including($0) : .excluding($0) } ?? .unbounded
      if matchesNull {
        guard range.lower.isEmpty, range.includesLower else { return nil }
        self = .range(.unbounded, high)  // null is the first entry of an index
      } else {
        let low = value(range.lower)
        let isOpen = range.lower.isEmpty && range.includesLower
        self = .range(isOpen ? .excluding(.null) : range.includesLower ? .including(low) : .excluding(low), high)
      }
    }
  }

  /// The least bytes above everything with this prefix; nil if there are none.
  static func successor(of prefix: [UInt8]) -> [UInt8]? {
    var result = prefix
    while let last = result.popLast() {
      if last < 0xFF { return result + [last + 1] }
    }
    return nil
  }

  /// The same among strings: UTF-8 sorts as its scalars, and the next scalar keeps the text valid.
  static func successor(ofText prefix: [UInt8]) -> [UInt8]? {
    var scalars = Array(String(decoding: prefix, as: UTF8.self).unicodeScalars)
    while let last = scalars.popLast() {
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = Unicode.Scalar(next) else { continue }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      text.append(scalar)
      return Array(String(text).utf8)
    }
    return nil
  }
}
