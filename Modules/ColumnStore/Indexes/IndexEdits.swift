import StorageInterface
import StoreValues

/// An open write's additions to and removals from one index, until the commit merges them into the blocks. Also, in snapshots too,
/// the entries of fresh rows, which no block has.
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
  /// The entries of the fresh rows are among these.
  @exclusivity(unchecked) var hasFresh = false
  /// Entries of deleted objects were removed that do not count as touched.
  @exclusivity(unchecked) fileprivate(set) var hasDeleted = false
  /// The least object with an edit.
  @exclusivity(unchecked) fileprivate var lowestObject = Int64.max
  @exclusivity(unchecked) fileprivate var touched = FingerprintSet()
  @exclusivity(unchecked) fileprivate var touchedWords = TouchedNumbers()
  /// The index's fences after the committed merge; nil if no block was added or removed.
  fileprivate(set) var mergedFences: IndexFences?

  init(_ shape: IndexShape) { self.shape = shape }

  static func make(_ shape: IndexShape) -> IndexEdits {
    shape.isWord ? WordIndexEdits(shape) : BytesIndexEdits(shape)
  }

  func add(word: UInt64, object: Int64, isRemoval: Bool) {}
  func add(key: UnsafeRawBufferPointer, object: Int64, isRemoval: Bool) {}
  /// Removes entries of deleted objects from an index of words, which do not count as touched: who finds one of them in a block asks
  /// whether the object lives.
  func remove(ofDeleted entries: [WordIndexEntry]) {}

  /// Whether a key of a unique index may have been added or removed, other than with deleted objects; false is certain.
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
  /// The least word, not below another, of which entries were added or removed. Of an index of words.
  func firstWord(from word: UInt64) -> UInt64? { nil }
  /// Whether an object below a key may have an edit; false is certain.
  final func mayChange(below end: Int64) -> Bool { lowestObject < end }
  /// Merges the edits of the objects below a key into the blocks and adds the changed blocks to the batch. Returns the new record;
  /// nil if there is nothing to merge.
  func merge(
    below end: Int64, into reader: IndexReader, version: UInt64, blockLimit: Int, _ batch: inout KeyValueBatch
  ) throws(StorageError) -> IndexRecord? { nil }
}

/// The edits of an index of words. It names its entry type, as the class below does, so that sorting and merging are
/// specialised.
final class WordIndexEdits: IndexEdits {
  @exclusivity(unchecked) private var entries = PendingEntries<WordIndexEntry>()

  override func add(word: UInt64, object: Int64, isRemoval: Bool) {
    entries.tail.append(WordIndexEntry(word: word, packed: object << 1 | (isRemoval ? 1 : 0)))
    if shape.isUnique { touchedWords.insert(word) }
    countChange += isRemoval ? -1 : 1
    if object < lowestObject { lowestObject = object }
  }

  override func remove(ofDeleted removed: [WordIndexEntry]) {
    entries.tail.append(contentsOf: removed)
    countChange -= removed.count
    for entry in removed where entry.object < lowestObject { lowestObject = entry.object }
    hasDeleted = hasDeleted || !removed.isEmpty
  }

  override func objects(
    _ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    let edits = entries.net(lower, upper)
    if edits.isEmpty { return try reader.objects(lower, upper, descending: descending, body) }
    try WordIndexEntry.lend(reader, edits, lower, upper, descending: descending, body)
  }

  override func count(_ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut) throws(StorageError) -> Int {
    try entries.count(reader, lower, upper)
  }

  override func duplicate(isExempt: (UnsafeRawBufferPointer) -> Bool) -> (Int64, Int64)? {
    entries.duplicate(isExempt: isExempt)
  }

  override func firstWord(from word: UInt64) -> UInt64? { entries.firstWord(from: word) }

  override func merge(
    below end: Int64, into reader: IndexReader, version: UInt64, blockLimit: Int, _ batch: inout KeyValueBatch
  ) throws(StorageError) -> IndexRecord? {
    let edits = entries.net(below: end)
    if edits.isEmpty { return nil }
    var merge = IndexMerge<WordIndexEntry>(reader: reader, blockLimit: blockLimit)
    try merge.run(edits, &batch)
    if merge.hasMovedFences { mergedFences = merge.newFences(version: version) }
    return record(reader, edits.reduce(0) { $0 + ($1.isRemoval ? -1 : 1) })
  }
}

final class BytesIndexEdits: IndexEdits {
  @exclusivity(unchecked) private var entries = PendingEntries<BytesIndexEntry>()
  private let arena = ByteArena()

  override func add(key: UnsafeRawBufferPointer, object: Int64, isRemoval: Bool) {
    entries.tail.append(BytesIndexEntry(arena.copy(key), packed: object << 1 | (isRemoval ? 1 : 0)))
    // A removed key matters only where the blocks have it, and then they are asked.
    if shape.isUnique, !isRemoval { touched.insert(FingerprintSet.fingerprint(key)) }
    countChange += isRemoval ? -1 : 1
    if object < lowestObject { lowestObject = object }
  }

  override func objects(
    _ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut, descending: Bool,
    _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    let edits = entries.net(lower, upper)
    if edits.isEmpty { return try reader.objects(lower, upper, descending: descending, body) }
    try BytesIndexEntry.lend(reader, edits, lower, upper, descending: descending, body)
  }

  override func count(_ reader: IndexReader, _ lower: IndexCut, _ upper: IndexCut) throws(StorageError) -> Int {
    try entries.count(reader, lower, upper)
  }

  override func duplicate(isExempt: (UnsafeRawBufferPointer) -> Bool) -> (Int64, Int64)? {
    entries.duplicate(isExempt: isExempt)
  }

  override func merge(
    below end: Int64, into reader: IndexReader, version: UInt64, blockLimit: Int, _ batch: inout KeyValueBatch
  ) throws(StorageError) -> IndexRecord? {
    let edits = entries.net(below: end)
    if edits.isEmpty { return nil }
    var merge = IndexMerge<BytesIndexEntry>(reader: reader, blockLimit: blockLimit)
    try merge.run(edits, &batch)
    if merge.hasMovedFences { mergedFences = merge.newFences(version: version) }
    return record(reader, edits.reduce(0) { $0 + ($1.isRemoval ? -1 : 1) })
  }
}

extension IndexEdits {
  fileprivate final func record(_ reader: IndexReader, _ countChange: Int) -> IndexRecord {
    IndexRecord(
      entryCount: reader.entryCount + countChange, fenceVersion: mergedFences?.version ?? reader.fences.version)
  }
}
