/// Radix sort for word entries: 11-bit digits from the lowest up, over the bits that differ. A few entries are sorted by
/// comparison.
enum IndexEntrySort {
  static func sort(_ entries: inout [WordIndexEntry]) {
    if entries.count < 512 {
      entries.sort(by: WordIndexEntry.isOrdered)
      return
    }
    var scratch = [WordIndexEntry](repeating: WordIndexEntry(word: 0, packed: 0), count: entries.count)
    entries.withUnsafeMutableBufferPointer { a in
      scratch.withUnsafeMutableBufferPointer { b in
        // Both have as many elements as `entries`, at least 512, and so an address.
        sortByWord(a.baseAddress.unsafelyUnwrapped, b.baseAddress.unsafelyUnwrapped, a.count)
        orderTies(&a)
      }
    }
  }

  private static func sortByWord(
    _ entries: UnsafeMutablePointer<WordIndexEntry>, _ scratch: UnsafeMutablePointer<WordIndexEntry>, _ count: Int
  ) {
    var (any, all) = (UInt64(0), UInt64.max)
    for i in 0..<count {
      any |= entries[i].word
      all &= entries[i].word
    }
    let different = any ^ all
    var (from, to) = (entries, scratch)
    var shift: UInt64 = 0
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2_048) { counts in
      while shift < 64, different >> shift != 0 {
        defer { shift += 11 }
        if (different >> shift) & 2_047 == 0 { continue }
        counts.initialize(repeating: 0)
        for i in 0..<count { counts[Int((from[i].word &>> shift) & 2_047)] &+= 1 }
        var sum = 0
        for digit in 0..<2_048 {
          let n = counts[digit]
          counts[digit] = sum
          sum &+= n
        }
        for i in 0..<count {
          let digit = Int((from[i].word &>> shift) & 2_047)
          to[counts[digit]] = from[i]
          counts[digit] &+= 1
        }
        swap(&from, &to)
      }
    }
    if from != entries { entries.update(from: from, count: count) }
  }

  /// Sorts entries with the same word by object. They come in the order they were added, which mostly is object order already.
  private static func orderTies(_ entries: inout UnsafeMutableBufferPointer<WordIndexEntry>) {
    var start = 0
    while start < entries.count {
      var end = start + 1
      var isSorted = true
      while end < entries.count, entries[end].word == entries[start].word {
        isSorted = isSorted && entries[end - 1].packed <= entries[end].packed
        end += 1
      }
      if !isSorted { entries[start..<end].sort(by: WordIndexEntry.isOrdered) }
      start = end
    }
  }
}
