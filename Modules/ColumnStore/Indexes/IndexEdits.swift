import StorageInterface
import StoreValues

/// An open write's additions to and removals from one index, until the commit merges them into the blocks.
///
/// Entries are appended unsorted, and sorted in runs when the index is read or the write commits; runs of similar size are
/// merged, so that a read between edits costs a logarithm and not a sort.
///
/// `@exclusivity(unchecked)`: confined to its transaction; sorting and merging run closures of this module only, which touch
/// entries and no variable.
class IndexEdits {
  let shape: IndexShape
  /// Additions minus removals.
  @exclusivity(unchecked) fileprivate(set) var countChange = 0
  @exclusivity(unchecked) fileprivate var touched = FingerprintSet()
  @exclusivity(unchecked) fileprivate var touchedWords = TouchedNumbers()
  /// The index's fences after the committed merge; nil if no block was added or removed.
  fileprivate(set) var mergedFences: IndexFences?

  init(_ shape: IndexShape) { self.shape = shape }

  static func make(_ shape: IndexShape) -> IndexEdits {
    shape.isWord ? WordIndexEdits(shape) : BytesIndexEdits(shape)
  }

  var isEmpty: Bool { true }
  func add(word: UInt64, object: Int64, isRemoval: Bool) {}
  func add(key: UnsafeRawBufferPointer, object: Int64, isRemoval: Bool) {}

  /// Whether a key of a unique index may have been added or removed; false is certain.
  @inline(__always) final func mayHaveTouched(word: UInt64) -> Bool { touchedWords.contains(word) }
  final func mayHaveTouched(key: UnsafeRawBufferPointer) -> Bool {
    touched.contains(FingerprintSet.fingerprint(key))
  }

  /// The objects between two cuts, as the write sees them: the reader's with the edits applied.
  func objects(
    _ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {}
  func count(_ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut) throws(StorageError) -> Int { 0 }
  /// Two objects with one key in a unique index, if any. Keys with a null are exempt.
  func duplicate(isExempt: (UnsafeRawBufferPointer) -> Bool) -> (Int64, Int64)? { nil }
  /// Merges the edits into the blocks and adds the changed blocks to the batch. Returns the new record.
  func merge(
    into reader: IndexReader, version: UInt64, blockLimit: Int, _ batch: inout KeyValueBatch
  ) throws(StorageError) -> IndexRecord { IndexRecord() }
}

/// The edits of an index of words. It names its entry type, as the class below does, so that sorting and merging are
/// specialised.
final class WordIndexEdits: IndexEdits {
  @exclusivity(unchecked) private var entries = PendingEntries<WordIndexEntry>()

  override var isEmpty: Bool { entries.isEmpty }

  override func add(word: UInt64, object: Int64, isRemoval: Bool) {
    entries.tail.append(WordIndexEntry(word: word, packed: object << 1 | (isRemoval ? 1 : 0)))
    if shape.isUnique { touchedWords.insert(word) }
    countChange += isRemoval ? -1 : 1
  }

  override func objects(
    _ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    guard let result = try entries.objects(reader, lower, upper) else {
      return try reader.objects(lower, upper, descending: descending, body)
    }
    lend(result, descending: descending, body)
  }

  override func count(_ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut) throws(StorageError) -> Int {
    try entries.count(reader, lower, upper)
  }

  override func duplicate(isExempt: (UnsafeRawBufferPointer) -> Bool) -> (Int64, Int64)? {
    entries.duplicate(isExempt: isExempt)
  }

  override func merge(
    into reader: IndexReader, version: UInt64, blockLimit: Int, _ batch: inout KeyValueBatch
  ) throws(StorageError) -> IndexRecord {
    var merge = IndexMerge<WordIndexEntry>(reader: reader, blockLimit: blockLimit)
    try merge.run(entries.net(), &batch)
    if merge.hasMovedFences { mergedFences = merge.newFences(version: version) }
    return record(reader)
  }
}

final class BytesIndexEdits: IndexEdits {
  @exclusivity(unchecked) private var entries = PendingEntries<BytesIndexEntry>()
  private let arena = ByteArena()

  override var isEmpty: Bool { entries.isEmpty }

  override func add(key: UnsafeRawBufferPointer, object: Int64, isRemoval: Bool) {
    entries.tail.append(BytesIndexEntry(arena.copy(key), packed: object << 1 | (isRemoval ? 1 : 0)))
    if shape.isUnique { touched.insert(FingerprintSet.fingerprint(key)) }
    countChange += isRemoval ? -1 : 1
  }

  override func objects(
    _ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    guard let result = try entries.objects(reader, lower, upper) else {
      return try reader.objects(lower, upper, descending: descending, body)
    }
    lend(result, descending: descending, body)
  }

  override func count(_ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut) throws(StorageError) -> Int {
    try entries.count(reader, lower, upper)
  }

  override func duplicate(isExempt: (UnsafeRawBufferPointer) -> Bool) -> (Int64, Int64)? {
    entries.duplicate(isExempt: isExempt)
  }

  override func merge(
    into reader: IndexReader, version: UInt64, blockLimit: Int, _ batch: inout KeyValueBatch
  ) throws(StorageError) -> IndexRecord {
    var merge = IndexMerge<BytesIndexEntry>(reader: reader, blockLimit: blockLimit)
    try merge.run(entries.net(), &batch)
    if merge.hasMovedFences { mergedFences = merge.newFences(version: version) }
    return record(reader)
  }
}

extension IndexEdits {
  fileprivate final func lend(
    _ objects: [Int64], descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) {
    let objects = descending ? objects.reversed() : objects
    if !objects.isEmpty { _ = objects.withUnsafeBufferPointer(body) }
  }

  fileprivate final func record(_ reader: IndexReader) -> IndexRecord {
    IndexRecord(
      entryCount: reader.entryCount + countChange, fenceVersion: mergedFences?.version ?? reader.fences.version)
  }
}
