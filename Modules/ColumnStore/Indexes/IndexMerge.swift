import StorageInterface

/// Merges sorted edits into the blocks of an index, block by block, and splits blocks that have grown.
struct IndexMerge<Entry: BlockIndexEntry> {
  private let reader: IndexReader
  private let blockLimit: Int
  private let prefix: [UInt8]
  private let arena = ByteArena()
  /// The fences of the removed and of the added blocks, ascending.
  private var removed: [[UInt8]] = []
  private var added: [[UInt8]] = []
  /// Whether a block was added or removed.
  var hasMovedFences: Bool { !removed.isEmpty || !added.isEmpty }
  /// Longer fences are not written; the entries stay in one block instead, however large.
  private let fenceLimit = 400

  init(reader: IndexReader, blockLimit: Int) {
    self.reader = reader
    self.blockLimit = blockLimit
    prefix = EntryKey.blockPrefix(reader.shape.reference).bytes
  }

  mutating func run(_ edits: [Entry], _ batch: inout KeyValueBatch) throws(StorageError) {
    try rewrite(edits, &batch)
    // A new block may get the fence of a removed one, which then stays.
    if !removed.isEmpty, !added.isEmpty {
      let both = Set(removed).intersection(added)
      removed.removeAll { both.contains($0) }
      added.removeAll { both.contains($0) }
    }
    for fence in removed { (prefix + fence).withUnsafeBytes { batch.append(key: $0, value: nil) } }
  }

  /// The fences after the merge.
  func newFences(version: UInt64) -> IndexFences {
    IndexFences(version: version, reader.fences, removed: removed, added: added)
  }

  private mutating func rewrite(_ edits: [Entry], _ batch: inout KeyValueBatch) throws(StorageError) {
    let fences = reader.fences
    var next = 0
    if fences.count == 0 {
      write(edits.filter { !$0.isRemoval }, fence: [], isAppended: true, &batch)
      return
    }
    /// Entries of blocks that became too small, to be joined to the next block, and their fence.
    var carried: [Entry] = []
    var carriedFence: [UInt8]?
    var carriedBlock = 0
    while next < edits.count || carriedFence != nil {
      let i = carriedFence == nil ? edits[next].block(in: fences) : carriedBlock + 1
      let end = endOfEdits(edits, from: next, inBlock: i)
      let block = try reader.block(i)
      if carriedFence == nil, end == next + 1, !edits[next].isRemoval,
        let value = Entry.inserting(edits[next], into: block, limit: blockLimit)
      {
        (prefix + fences.fence(i)).withUnsafeBytes { batch.append(key: $0, value: value) }
        next = end
        continue
      }
      var stored: [Entry] = []
      Entry.read(block, into: &stored, arena: arena)
      let isAppended = i == fences.count - 1 && next < end && stored.last.map { Entry.isBelow($0, edits[next]) } ?? true
      var merged = carried
      merged.reserveCapacity(carried.count + stored.count + end - next)
      try merge(stored, edits, &next, end, into: &merged)
      guard Entry.areOrdered(merged) else { throw reader.named(.corrupt("the entries of an index are out of order")) }
      let fence = carriedFence ?? Array(fences.fence(i))
      if carriedFence != nil { removed.append(Array(fences.fence(i))) }
      let isSmall = merged.isEmpty || (merged.count * 4 < stored.count && merged.count < 64)
      if isSmall, i + 1 < fences.count {
        (carried, carriedFence) = (merged, fence)
        carriedBlock = i
        continue
      }
      carried = []
      carriedFence = nil
      if merged.isEmpty {
        removed.append(fence)
      } else {
        write(merged, fence: fence, isAppended: isAppended, &batch)
      }
    }
  }

  /// The end of the edits that belong to block `i`.
  private func endOfEdits(_ edits: [Entry], from next: Int, inBlock i: Int) -> Int {
    if i == reader.fences.count - 1 { return edits.count }
    // Most blocks get few edits, so search nearby first.
    var (low, step) = (next, 1)
    while low + step < edits.count, edits[low + step].block(in: reader.fences) <= i {
      low += step
      step *= 2
    }
    var high = min(edits.count, low + step)
    while low < high {
      let middle = (low + high) / 2
      if edits[middle].block(in: reader.fences) <= i { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func merge(
    _ stored: [Entry], _ edits: [Entry], _ next: inout Int, _ end: Int, into result: inout [Entry]
  ) throws(StorageError) {
    for entry in stored {
      while next < end, !edits[next].isRemoval, Entry.isBelow(edits[next], entry) {
        result.append(edits[next])
        next += 1
      }
      if next < end, edits[next].isRemoval, edits[next].object == entry.object, Entry.haveSameKey(edits[next], entry) {
        next += 1
      } else {
        result.append(entry)
      }
    }
    while next < end {
      guard !edits[next].isRemoval else { throw reader.named(.corrupt("an index lacks an entry of an object")) }
      result.append(edits[next])
      next += 1
    }
  }

  /// Writes entries as one block under `fence`, or as several if they do not fit: full ones if the index grows at its end, else
  /// even ones.
  private mutating func write(_ entries: [Entry], fence: [UInt8], isAppended: Bool, _ batch: inout KeyValueBatch) {
    // Blocks made in bulk keep an eighth free, so that most later additions fit.
    var cuts = pieces(entries, limit: blockLimit, most: .max)
    if cuts.count > 1, isAppended { cuts = pieces(entries, limit: blockLimit - blockLimit / 8, most: .max) }
    if cuts.count > 1, !isAppended { cuts = pieces(entries, limit: blockLimit, most: (entries.count + cuts.count - 1) / cuts.count) }
    var start = 0
    for end in cuts {
      // `pieces` cuts only where there is a separator.
      let own = start == 0 ? fence : Entry.separator(entries[start - 1], entries[start]) ?? []
      if start > 0 || reader.fences.count == 0 { added.append(own) }
      let key = prefix + own
      let value = Entry.encode(entries[start..<end])
      key.withUnsafeBytes { batch.append(key: $0, value: value) }
      start = end
    }
  }

  /// The ends of the pieces that entries are split into.
  private func pieces(_ entries: [Entry], limit: Int, most: Int) -> [Int] {
    var ends: [Int] = []
    var start = 0
    while start < entries.count {
      var end = start + min(most, Entry.fitting(entries[start...], limit: limit))
      while end < entries.count {
        if let separator = Entry.separator(entries[end - 1], entries[end]), separator.count <= fenceLimit { break }
        end += 1
      }
      ends.append(end)
      start = end
    }
    return ends
  }
}
