import StorageInterface
import StoreValues

/// One index in a snapshot, without the changes of an open write. Caches the blocks it has read.
final class IndexReader {
  let shape: IndexShape
  private let snapshot: any KeyValueSnapshot
  /// The number of entries in the whole index.
  let entryCount: Int
  let fences: IndexFences
  let blocks: BlockTable
  private let prefix: [UInt8]
  /// The names and the file for errors of damage.
  private let catalog: Catalog
  private let file: String?
  private static let scratchCount = 2_048

  init(
    _ shape: IndexShape, _ snapshot: any KeyValueSnapshot, _ caches: StructureCache, _ catalog: Catalog, file: String?
  ) throws(StorageError) {
    self.shape = shape
    self.snapshot = snapshot
    (self.catalog, self.file) = (catalog, file)
    do throws(StorageError) {
      let record = try IndexRecord.read(shape.reference, snapshot)
      let fences = try caches.fences(shape.reference, record, snapshot)
      guard (record.entryCount == 0) == (fences.count == 0) else {
        throw .corrupt("an index has entries without blocks, or blocks without entries")
      }
      (entryCount, self.fences) = (record.entryCount, fences)
    } catch {
      throw error.placed(EntryName.index(shape.reference).place(in: catalog), inFile: file)
    }
    prefix = EntryKey.blockPrefix(shape.reference).bytes
    blocks = BlockTable(count: fences.count)
  }

  deinit { blocks.deallocate() }

  func block(_ i: Int) throws(StorageError) -> IndexBlock {
    if let block = blocks[i] { return block }
    do throws(StorageError) {
      let bytes = try (prefix + fences.fence(i)).lend { key throws(StorageError) in
        try snapshot.value(for: key)
      }
      guard let bytes else { throw .corrupt("a block of an index is missing") }
      let block = try IndexBlock(bytes, isWord: shape.isWord)
      guard block.count <= entryCount else { throw .corrupt("a block of an index has more entries than the index") }
      blocks.keep(block, at: i)
      return block
    } catch {
      throw named(error)
    }
  }

  /// An error of damage with the index's name and the file.
  func named(_ error: StorageError) -> StorageError {
    error.placed(EntryName.index(shape.reference).place(in: catalog), inFile: file)
  }

  /// The object of a word in a unique index. O(log n), no allocation.
  func object(ofWord word: UInt64) throws(StorageError) -> Int64? {
    guard fences.count > 0 else { return nil }
    // Words are distinct, so only the block that the fences give can have it.
    let i = fences.block(ofWord: word)
    if let block = blocks[i] { return block.object(ofWord: word) }
    return try block(i).object(ofWord: word)
  }

  /// The number of entries with a word. O(log n), and a step for each block between its first and its last.
  func count(ofWord word: UInt64) throws(StorageError) -> Int {
    guard fences.count > 0 else { return 0 }
    var i = fences.block(ofWord: word, object: .min)
    let start = try place(i).pointee?.position(ofWord: word) ?? 0
    var (count, low) = (-start, start)
    // The fences show which further blocks contain the word.
    while i + 1 < fences.count, fences.words[i + 1] <= word {
      count += try place(i).pointee?.count ?? 0
      i += 1
      low = 0
    }
    return count + (try place(i).pointee?.position(ofWord: word, isAfter: true, from: low) ?? 0)
  }

  /// The least word of an entry that is not below a word; nil if there is none. O(log n).
  func firstWord(from word: UInt64) throws(StorageError) -> UInt64? {
    guard fences.count > 0 else { return nil }
    let i = fences.block(ofWord: word, object: .min)
    if let block = try place(i).pointee, case let at = block.position(ofWord: word), at < block.count { return block.word(at: at) }
    // A block is never empty.
    guard i + 1 < fences.count, let block = try place(i + 1).pointee, block.count > 0 else { return nil }
    return block.word(at: 0)
  }

  /// The place of a block, decoded.
  private func place(_ i: Int) throws(StorageError) -> UnsafeMutablePointer<IndexBlock?> {
    if let place = blocks.place(i) { return place }
    _ = try block(i)
    guard let place = blocks.place(i) else { throw named(.corrupt("a block of an index is missing")) }
    return place
  }

  /// Calls `body` with the blocks between two cuts and their positions, in index order or reversed.
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

  /// The objects between two cuts, in runs.
  func objects(
    _ lower: IndexCut, _ upper: IndexCut, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try visit(lower, upper, descending: descending) { block, range throws(StorageError) in
      IndexReader.lend(block, range, descending: descending, body)
    }
  }

  /// The objects at positions of a block, in runs.
  static func lend(
    _ block: IndexBlock, _ range: Range<Int>, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) -> Step {
    // Allocated per call, because `body` may read the same index.
    let scratch = UnsafeMutablePointer<Int64>.allocate(capacity: min(range.count, scratchCount))
    defer { scratch.deallocate() }
    var rest = range
    while !rest.isEmpty {
      let n = min(rest.count, scratchCount)
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

  /// The number of all entries: the record's, unless it is implausible for the number of blocks; then they are counted.
  func countAll() throws(StorageError) -> Int {
    entryCount >> 16 <= fences.count ? entryCount : try count(.start, .end)
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

/// The blocks that a reader has decoded, in pages of sixteen that are allocated on demand: a transaction that reads one block
/// of a large index allocates nothing for the others.
struct BlockTable {
  private static let pageSize = 16
  private let pages: UnsafeMutablePointer<UnsafeMutablePointer<IndexBlock?>?>
  private let pageCount: Int

  init(count: Int) {
    pageCount = count / BlockTable.pageSize + 1
    pages = .allocate(capacity: pageCount)
    pages.initialize(repeating: nil, count: pageCount)
  }

  func deallocate() {
    for page in 0..<pageCount { pages[page]?.deallocate() }
    pages.deallocate()
  }

  /// A block; `i` must be below the table's count.
  @inline(__always) subscript(i: Int) -> IndexBlock? {
    guard let page = pages[i / BlockTable.pageSize] else { return nil }
    return page[i % BlockTable.pageSize]
  }

  /// The place of a decoded block; nil for others.
  @inline(__always) func place(_ i: Int) -> UnsafeMutablePointer<IndexBlock?>? {
    guard let page = pages[i / BlockTable.pageSize] else { return nil }
    let place = page + i % BlockTable.pageSize
    return place.pointee == nil ? nil : place
  }

  func keep(_ block: IndexBlock, at i: Int) {
    let page: UnsafeMutablePointer<IndexBlock?>
    if let made = pages[i / BlockTable.pageSize] {
      page = made
    } else {
      page = .allocate(capacity: BlockTable.pageSize)
      page.initialize(repeating: nil, count: BlockTable.pageSize)
      pages[i / BlockTable.pageSize] = page
    }
    page[i % BlockTable.pageSize] = block
  }
}

/// The record of an index besides its blocks: entry count u64, version of the last change of fences u64.
struct IndexRecord {
  var entryCount = 0
  var fenceVersion: UInt64 = 0

  static func read(_ index: IndexReference, _ snapshot: any KeyValueSnapshot) throws(StorageError) -> IndexRecord {
    let bytes = try EntryKey.indexRecord(index).withBytes { key throws(StorageError) in try snapshot.value(for: key) }
    guard let bytes else { return IndexRecord() }
    guard let start = bytes.baseAddress, bytes.count >= 16, let count = Int(exactly: start.number(0, as: UInt64.self)),
      count <= Int.max >> 2
    else {
      throw .corrupt("the record of an index is cut off")
    }
    return IndexRecord(entryCount: count, fenceVersion: start.number(8))
  }

  /// Throws `.corrupt` if more entries were removed than the record had counted.
  func encoded() throws(StorageError) -> ValueBuffer {
    guard let count = UInt64(exactly: entryCount) else { throw .corrupt("the record of an index counts too few entries") }
    return ValueBuffer(count: 16) { out in
      let out = out.baseAddress.unsafelyUnwrapped  // 16 bytes have an address
      out.store(count, at: 0)
      out.store(fenceVersion, at: 8)
    }
  }
}
