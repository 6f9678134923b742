import StoreValues

/// A set of object keys (which are positive) as ascending, disjoint, non-adjacent runs: a bulk insert of a million objects is
/// one run.
public struct KeyRuns: Sendable, Hashable {
  /// Ascending, disjoint and non-adjacent.
  public private(set) var runs: [ClosedRange<Int64>]

  /// No keys.
  public init() { runs = [] }

  /// From keys in any order, duplicates allowed. O(n log n), O(n) if they are close together.
  @inlinable public init(_ keys: some Sequence<Int64>) { self.init(unsorted: Array(keys)) }

  @usableFromInline init(unsorted keys: [Int64]) {
    self.init()
    guard let least = keys.min(), let greatest = keys.max() else { return }
    let (span, overflow) = greatest.subtractingReportingOverflow(least)
    if overflow || span / 64 > keys.count * 4 {
      var keys = keys
      keys.sort()
      for key in keys { append(key) }
      return
    }
    // A bit for each possible key: 64 keys per word.
    var bits = [UInt64](repeating: 0, count: Int(span / 64) + 1)
    for key in keys { bits[Int((key - least) >> 6)] |= 1 << UInt64((key - least) & 63) }
    for (word, value) in bits.enumerated() {
      var rest = value
      while rest != 0 {
        let first = rest.trailingZeroBitCount
        let length = (~(rest >> UInt64(first))).trailingZeroBitCount
        let key = least + Int64(word * 64 + first)
        append(key...key + Int64(length - 1))
        if first + length >= 64 { break }
        rest &= .max << UInt64(first + length)
      }
    }
  }

  /// From runs; runs that violate the rules above are normalised. O(n log n).
  public init(runs: [ClosedRange<Int64>]) {
    self.init()
    for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = self.runs.last, run.lowerBound <= last.upperBound || run.lowerBound &- 1 == last.upperBound {
        self.runs[self.runs.count - 1] = last.lowerBound...Swift.max(last.upperBound, run.upperBound)
      } else {
        self.runs.append(run)
      }
    }
  }

  /// Whether there are no keys.
  public var isEmpty: Bool { runs.isEmpty }
  /// The number of keys. Runs are within the positive keys, so the sum cannot overflow.
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

  /// Adds keys, none of which is below any other. O(1).
  public mutating func append(_ keys: ClosedRange<Int64>) {
    guard let last = runs.last, keys.lowerBound - 1 <= last.upperBound else { return runs.append(keys) }
    runs[runs.count - 1] = last.lowerBound...Swift.max(last.upperBound, keys.upperBound)
  }

  /// Whether the set has the key. O(log runs).
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
