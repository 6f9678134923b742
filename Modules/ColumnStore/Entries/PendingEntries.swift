import StorageInterface

/// The pending additions and removals of an `IndexEdits`: sorted runs of entries.
struct PendingEntries<Entry: BlockIndexEntry> {
  /// Entries in order of arrival.
  var tail: [Entry] = []
  /// Sorted runs, each at least about twice as long as the next.
  private var runs: [[Entry]] = []

  var isEmpty: Bool { tail.isEmpty && runs.isEmpty }

  fileprivate mutating func sortTail() {
    guard !tail.isEmpty else { return }
    Entry.sort(&tail)
    runs.append(tail)
    tail = []
    while runs.count >= 2, runs[runs.count - 2].count < runs[runs.count - 1].count * 2 {
      let b = runs.removeLast()
      let a = runs.removeLast()
      runs.append(PendingEntries.merged(a, b))
    }
  }

  private static func merged(_ a: [Entry], _ b: [Entry]) -> [Entry] {
    var result: [Entry] = []
    result.reserveCapacity(a.count + b.count)
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
      if Entry.isOrdered(b[j], a[i]) {
        result.append(b[j])
        j += 1
      } else {
        result.append(a[i])
        i += 1
      }
    }
    result.append(contentsOf: a[i...])
    result.append(contentsOf: b[j...])
    return result
  }

  /// The net edits: sorted, with no entry both added and removed.
  mutating func net() -> [Entry] {
    sortTail()
    while runs.count >= 2 {
      let b = runs.removeLast()
      let a = runs.removeLast()
      runs.append(PendingEntries.merged(a, b))
    }
    return runs.first.map { PendingEntries.cancelled($0[...]) } ?? []
  }

  /// The same for the entries of objects below a key.
  mutating func net(below end: Int64) -> [Entry] { end == .max ? net() : net().filter { $0.object < end } }

  /// The same for the entries between two cuts.
  mutating func net(_ lower: IndexCut, _ upper: IndexCut) -> [Entry] {
    if isEmpty { return [] }
    sortTail()
    var found: [Entry] = []
    let (lowerBound, upperBound) = (lower.wordBound, upper.wordBound)
    for run in runs {
      let from = PendingEntries.partition(run) { $0.isBelow(lower, lowerBound) }
      let to = PendingEntries.partition(run) { $0.isBelow(upper, upperBound) }
      if from < to { found = found.isEmpty ? Array(run[from..<to]) : PendingEntries.merged(found, Array(run[from..<to])) }
    }
    return PendingEntries.cancelled(found[...])
  }

  fileprivate static func partition(_ run: [Entry], _ isBelow: (Entry) -> Bool) -> Int {
    var (low, high) = (0, run.count)
    while low < high {
      let middle = (low + high) / 2
      if isBelow(run[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Cancels additions against removals of the same entry. Most runs have no removal.
  private static func cancelled(_ entries: ArraySlice<Entry>) -> [Entry] {
    guard entries.contains(where: { $0.isRemoval }) else { return Array(entries) }
    var result: [Entry] = []
    result.reserveCapacity(entries.count)
    var i = entries.startIndex
    while i < entries.endIndex {
      var end = i
      var sum = 0
      while end < entries.endIndex, entries[end].object == entries[i].object,
        Entry.haveSameKey(entries[end], entries[i])
      {
        sum += entries[end].isRemoval ? -1 : 1
        end += 1
      }
      var entry = entries[i]
      entry.packed = entry.object << 1 | (sum < 0 ? 1 : 0)
      for _ in 0..<abs(sum) { result.append(entry) }
      i = end
    }
    return result
  }

  mutating func count(_ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut) throws(StorageError) -> Int {
    let stored = try reader.count(lower, upper)
    return net(lower, upper).reduce(stored) { $0 + ($1.isRemoval ? -1 : 1) }
  }

  mutating func duplicate(isExempt: (UnsafeRawBufferPointer) -> Bool) -> (Int64, Int64)? {
    let entries = net()
    var found: (Int64, Int64)?
    for i in entries.indices.dropFirst() where Entry.haveSameKey(entries[i - 1], entries[i]) {
      if let key = entries[i].keyBytes, isExempt(key) { continue }
      // The pair that adding the objects one by one in key order would find first.
      if entries[i].object < found?.1 ?? .max { found = (entries[i - 1].object, entries[i].object) }
    }
    return found
  }
}

extension PendingEntries where Entry == WordIndexEntry {
  /// The least word, not below another, of an addition or a removal.
  mutating func firstWord(from word: UInt64) -> UInt64? {
    sortTail()
    var least: UInt64?
    for run in runs {
      let from = PendingEntries.partition(run) { $0.word < word }
      if from < run.count { least = min(least ?? .max, run[from].word) }
    }
    return least
  }
}
