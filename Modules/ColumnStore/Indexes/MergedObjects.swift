import StorageInterface

extension BlockIndexEntry {
  /// Lends the objects between two cuts in index order or reversed: those of the blocks with sorted edits applied. Goes block by block,
  /// so who stops early has read what was lent and no more. `body` may read and change the same index.
  static func lend(
    _ reader: IndexReader, _ edits: [Self], _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    /// The edits that lie beyond all blocks visited so far.
    var left = 0..<edits.count
    var hasStopped = false
    try reader.visit(lower, upper, descending: descending) { block, range throws(StorageError) in
      // The keys that the entries of this block point to.
      let arena = ByteArena()
      defer { withExtendedLifetime(arena) {} }
      let here: Range<Int>
      if descending {
        let first = entry(of: block, range.lowerBound, arena: arena)
        here = partition(edits, left) { isBelow($0, first) }..<left.upperBound
        left = left.lowerBound..<here.lowerBound
      } else {
        let last = entry(of: block, range.upperBound - 1, arena: arena)
        here = left.lowerBound..<partition(edits, left) { !isBelow(last, $0) }
        left = here.upperBound..<left.upperBound
      }
      let step = here.isEmpty
        ? IndexReader.lend(block, range, descending: descending, body)
        : lend(merged(block, range, edits[here], arena), descending: descending, body)
      hasStopped = step == .stop
      return step
    }
    if hasStopped { return }
    _ = lend(edits[left].filter { !$0.isRemoval }.map(\.object), descending: descending, body)
  }

  /// The first position in a range of sorted edits whose edit fails.
  private static func partition(_ edits: [Self], _ range: Range<Int>, _ passes: (Self) -> Bool) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if passes(edits[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The objects at positions of a block with edits applied, ascending.
  private static func merged(
    _ block: IndexBlock, _ range: Range<Int>, _ edits: ArraySlice<Self>, _ arena: ByteArena
  ) -> [Int64] {
    var result: [Int64] = []
    result.reserveCapacity(range.count + edits.count)
    var next = edits.startIndex
    for i in range {
      let entry = entry(of: block, i, arena: arena)
      while next < edits.endIndex, !edits[next].isRemoval, isBelow(edits[next], entry) {
        result.append(edits[next].object)
        next += 1
      }
      if next < edits.endIndex, edits[next].isRemoval, edits[next].object == entry.object, haveSameKey(edits[next], entry) {
        next += 1
      } else {
        result.append(entry.object)
      }
    }
    for edit in edits[next...] where !edit.isRemoval { result.append(edit.object) }
    return result
  }

  private static func lend(_ objects: [Int64], descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step) -> Step {
    if objects.isEmpty { return .proceed }
    return (descending ? objects.reversed() : objects).withUnsafeBufferPointer(body)
  }
}
