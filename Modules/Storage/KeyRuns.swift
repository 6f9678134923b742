import Values

/// A set of object keys as ascending, disjoint, non-adjacent runs: a bulk insert of a million objects is one
/// run.
public struct KeyRuns: Sendable, Hashable {
  public private(set) var runs: [ClosedRange<Int64>]

  public init() { runs = [] }

  /// From keys in any order, duplicates allowed. O(n log n).
  public init(_ keys: some Sequence<Int64>) {
    self.init()
    for key in keys.sorted() { append(key) }
  }

  /// From runs that keep the rules above; runs that do not are put in order. O(n log n).
  public init(runs: [ClosedRange<Int64>]) {
    self.init()
    for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = self.runs.last, run.lowerBound <= last.upperBound || run.lowerBound - 1 == last.upperBound {
        self.runs[self.runs.count - 1] = last.lowerBound...Swift.max(last.upperBound, run.upperBound)
      } else {
        self.runs.append(run)
      }
    }
  }

  public var isEmpty: Bool { runs.isEmpty }
  public var count: Int { runs.reduce(0) { $0 + $1.count } }

  /// Adds a key that is not below any other. O(1).
  public mutating func append(_ key: Int64) {
    if let last = runs.last {
      if key <= last.upperBound { return }
      if key - 1 == last.upperBound {
        runs[runs.count - 1] = last.lowerBound...key
        return
      }
    }
    runs.append(key...key)
  }

  /// O(log runs).
  public func contains(_ key: Int64) -> Bool {
    var low = 0
    var high = runs.count
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound < key { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].contains(key)
  }
}

extension KeyRuns: Sequence {
  public func makeIterator() -> some IteratorProtocol<Int64> { runs.lazy.joined().makeIterator() }
}

/// A set of the properties of one table, as bits by property id. Up to 64 properties cost no allocation.
public struct PropertySet: Sendable, Hashable {
  /// Bit i of word w: the property with the id 64 w + i. Words beyond the first are trimmed of trailing zeroes.
  private var first: UInt64 = 0
  private var more: [UInt64] = []

  public init() {}
  public init(_ properties: some Sequence<PropertyID>) { for property in properties { insert(property) } }

  public var isEmpty: Bool { first == 0 && more.isEmpty }

  public mutating func insert(_ property: PropertyID) {
    let (word, bit) = (Int(property.rawValue >> 6), UInt64(1) << UInt64(property.rawValue & 63))
    if word == 0 {
      first |= bit
      return
    }
    while more.count < word { more.append(0) }
    more[word - 1] |= bit
  }

  public func contains(_ property: PropertyID) -> Bool {
    let (word, bit) = (Int(property.rawValue >> 6), UInt64(1) << UInt64(property.rawValue & 63))
    if word == 0 { return first & bit != 0 }
    return word <= more.count && more[word - 1] & bit != 0
  }

  public mutating func formUnion(_ other: PropertySet) {
    first |= other.first
    while more.count < other.more.count { more.append(0) }
    for (i, word) in other.more.enumerated() { more[i] |= word }
  }

  public func isDisjoint(with other: PropertySet) -> Bool {
    first & other.first == 0 && zip(more, other.more).allSatisfy { $0 & $1 == 0 }
  }

  /// Ascending.
  public var properties: [PropertyID] {
    var result: [PropertyID] = []
    for (i, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        result.append(PropertyID(UInt16(i * 64 + rest.trailingZeroBitCount)))
        rest &= rest - 1
      }
    }
    return result
  }

  var words: [UInt64] { [first] + more }

  init(words: [UInt64]) {
    first = words.first ?? 0
    more = Array(words.dropFirst())
    while more.last == 0 { more.removeLast() }
  }
}
