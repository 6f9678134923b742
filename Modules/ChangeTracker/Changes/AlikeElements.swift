/// Elements of a list that lie next to each other and are alike in what is reported of them.
protocol AlikeElements {
  var count: Int { get }

  /// Some of the elements, by their places in the run.
  func part(_ range: Range<Int>) -> Self
}

extension Array where Element: AlikeElements {
  /// Makes a run begin at a position, which counts the elements of the runs that `count` alone; its index, or the number of
  /// runs for a position at or past the end. O(runs).
  mutating func split(before position: Int, where counts: (Element) -> Bool = { _ in true }) -> Int {
    var start = 0
    for i in indices where counts(self[i]) {
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
