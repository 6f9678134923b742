/// A run of adjacent list elements that are reported alike.
protocol AlikeElements {
  var count: Int { get }

  /// The elements at some positions of the run.
  func part(_ range: Range<Int>) -> Self
}

extension Array where Element: AlikeElements {
  /// Splits a run so that one begins at `position`, which counts only the elements of the runs that `counts` accepts. Returns
  /// its index, or the number of runs for a position at or past the end. O(runs).
  ///
  /// - Parameter first: the run from which positions count.
  mutating func split(before position: Int, from first: Int = 0, where counts: (Element) -> Bool = { _ in true }) -> Int {
    var start = 0
    for i in first..<Swift.max(first, count) where counts(self[i]) {
      let run = self[i]
      if position <= start { return i }
      if position < start + run.count {
        self[i] = run.part(0..<position - start)
        insert(run.part(position - start..<run.count), at: i + 1)
        return i + 1
      }
      start += run.count
    }
    return count
  }
}
