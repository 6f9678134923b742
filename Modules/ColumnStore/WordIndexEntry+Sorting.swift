import Storage

extension WordIndexEntry {
  /// In the order of words, and of objects where words are equal.
  static func sort(_ entries: inout [Self]) {
    if entries.count < 512 { return entries.sort(by: isOrdered) }
    entries.withUnsafeMutableBufferPointer { entries in
      RadixSort.sort(entries) { $0.word }
      orderTies(&entries)
    }
  }

  /// Entries of one word come in the order they were added, which is mostly the order of objects already.
  private static func orderTies(_ entries: inout UnsafeMutableBufferPointer<Self>) {
    var start = 0
    while start < entries.count {
      var end = start + 1
      var isSorted = true
      while end < entries.count, entries[end].word == entries[start].word {
        isSorted = isSorted && entries[end - 1].packed <= entries[end].packed
        end += 1
      }
      if !isSorted { entries[start..<end].sort(by: isOrdered) }
      start = end
    }
  }
}
