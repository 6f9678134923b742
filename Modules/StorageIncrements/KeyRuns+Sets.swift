import StorageInterface

extension KeyRuns {
  /// Whether a key is in both. O(runs).
  func intersects(_ other: KeyRuns) -> Bool {
    var (a, b) = (runs[...], other.runs[...])
    while let first = a.first, let second = b.first {
      if first.overlaps(second) { return true }
      if first.upperBound < second.lowerBound { a.removeFirst() } else { b.removeFirst() }
    }
    return false
  }

  /// The keys that are not in the other. O(runs).
  func subtracting(_ other: KeyRuns) -> KeyRuns {
    var result: [ClosedRange<Int64>] = []
    var taken = other.runs[...]
    for run in runs {
      // Keys are positive, so neither bound can overflow where it is moved.
      var lower = run.lowerBound
      var isWhole = true
      while let next = taken.first, next.upperBound < run.lowerBound { taken.removeFirst() }
      for hole in taken {
        if hole.lowerBound > run.upperBound { break }
        if hole.lowerBound > lower { result.append(lower...hole.lowerBound - 1) }
        if hole.upperBound >= run.upperBound {
          isWhole = false
          break
        }
        lower = hole.upperBound + 1
      }
      if isWhole { result.append(lower...run.upperBound) }
    }
    return KeyRuns(runs: result)
  }
}
