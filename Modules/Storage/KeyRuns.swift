import Values

/// A set of object keys (positive, as keys are) as ascending, disjoint, non-adjacent runs: a bulk insert of a million objects is one
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
  /// Runs lie within positive keys, so the sum cannot overflow.
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
