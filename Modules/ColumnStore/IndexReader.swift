import Storage
import Values

/// One index as a snapshot has it, before what an open write changes. Keeps the blocks it has read.
final class IndexReader {
  let shape: IndexShape
  private let snapshot: any KeyValueSnapshot
  /// Entries in the whole index.
  let entryCount: Int
  let fences: IndexFences
  private let blocks: UnsafeMutablePointer<IndexBlock?>
  private let prefix: [UInt8]
  private static let scratchCount = 2_048

  init(_ shape: IndexShape, _ snapshot: any KeyValueSnapshot, _ caches: StructureCache) throws(StorageError) {
    self.shape = shape
    self.snapshot = snapshot
    let record = try IndexRecord.read(shape.reference, snapshot)
    entryCount = record.entryCount
    fences = try caches.fences(shape.reference, record, snapshot)
    guard (entryCount == 0) == (fences.count == 0) else {
      throw .corrupt("an index has entries without blocks, or blocks without entries")
    }
    prefix = EntryKey.blockPrefix(shape.reference).bytes
    blocks = .allocate(capacity: max(fences.count, 1))
    blocks.initialize(repeating: nil, count: max(fences.count, 1))
  }

  deinit {
    blocks.deallocate()
  }

  func block(_ i: Int) throws(StorageError) -> IndexBlock {
    if let block = blocks[i] { return block }
    let bytes = try (prefix + fences.fence(i)).lend { key throws(StorageError) in
      try snapshot.value(for: key)
    }
    guard let bytes else { throw .corrupt("a block of an index is missing") }
    let block = try IndexBlock(bytes, isWord: shape.isWord)
    blocks[i] = block
    return block
  }

  /// The object of a number in a unique index. O(log n), no allocation.
  func object(ofWord word: UInt64) throws(StorageError) -> Int64? {
    guard fences.count > 0 else { return nil }
    // Fences cut between entries, so the entry may also be in the block after: only when the key's first object
    // is above the fence's, which `Int64.max` as object looks up from above.
    let i = fences.block(ofWord: word)
    if blocks[i] == nil { _ = try block(i) }
    return blocks[i]?.object(ofWord: word)
  }

  /// Blocks with the positions between two cuts, in index order or against it.
  func visit(
    _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (IndexBlock, Range<Int>) throws(StorageError) -> Step
  ) throws(StorageError) {
    guard fences.count > 0 else { return }
    let first = fences.block(of: lower, isWord: shape.isWord)
    let last = fences.block(of: upper, isWord: shape.isWord)
    guard first <= last else { return }
    for step in 0...last - first {
      let i = descending ? last - step : first + step
      let block = try block(i)
      let from = i == first ? block.position(of: lower) : 0
      let to = i == last ? block.position(of: upper) : block.count
      if from < to, try body(block, from..<to) == .stop { return }
    }
  }

  /// Objects between two cuts, in runs.
  func objects(
    _ lower: IndexCut, _ upper: IndexCut, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try visit(lower, upper, descending: descending) { block, range throws(StorageError) in
      // Its own for each call: `body` may read the same index.
      let scratch = UnsafeMutablePointer<Int64>.allocate(capacity: min(range.count, IndexReader.scratchCount))
      defer { scratch.deallocate() }
      var rest = range
      while !rest.isEmpty {
        let n = min(rest.count, IndexReader.scratchCount)
        let part = descending ? rest.upperBound - n..<rest.upperBound : rest.lowerBound..<rest.lowerBound + n
        block.copyObjects(part, to: scratch)
        if descending {
          var run = UnsafeMutableBufferPointer(start: scratch, count: n)
          run.reverse()
        }
        if body(UnsafeBufferPointer(start: scratch, count: n)) == .stop { return .stop }
        rest = descending ? rest.lowerBound..<part.lowerBound : part.upperBound..<rest.upperBound
      }
      return .proceed
    }
  }

  func count(_ lower: IndexCut, _ upper: IndexCut) throws(StorageError) -> Int {
    var sum = 0
    try visit(lower, upper, descending: false) { _, range throws(StorageError) in
      sum += range.count
      return .proceed
    }
    return sum
  }
}

/// What the store keeps of an index besides its blocks: entry count u64, version of the last change of fences u64.
struct IndexRecord {
  var entryCount = 0
  var fenceVersion: UInt64 = 0

  static func read(_ index: IndexReference, _ snapshot: any KeyValueSnapshot) throws(StorageError) -> IndexRecord {
    let bytes = try EntryKey.indexRecord(index).withBytes { key throws(StorageError) in try snapshot.value(for: key) }
    guard let bytes else { return IndexRecord() }
    guard let start = bytes.baseAddress, bytes.count >= 16, let count = Int(exactly: start.number(0, as: UInt64.self)) else {
      throw .corrupt("the record of an index is cut off")
    }
    return IndexRecord(entryCount: count, fenceVersion: start.number(8))
  }

  var encoded: ValueBuffer {
    ValueBuffer(count: 16) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // 16 bytes have an address
      out.store(UInt64(entryCount), at: 0)
      out.store(fenceVersion, at: 8)
    }
  }
}
