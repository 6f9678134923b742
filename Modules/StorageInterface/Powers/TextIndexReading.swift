import QueryModel
import StoreValues

/// A transaction that can find the objects with a word, by the indexes of words that its catalog lists
/// (`TableEntry.textIndexes`).
///
/// A conforming engine maintains them in every write, in its transaction: for each object one entry per distinct word of the
/// text, as split by `TextWords`; none for null. An engine that does not conform ignores those indexes, and `TEXT` reads the
/// texts.
public protocol TextIndexReading: StorageReading {
  /// Calls `body` with the objects that have the word, or with `isPrefix` a word with this prefix. Ascending for a word; for a
  /// prefix, an object comes once per matching word, in no order. An open write sees its own changes.
  func keys(
    of word: [UInt8], isPrefix: Bool, in index: IndexID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// The number of entries that `keys` would give, without reading them.
  func count(of word: [UInt8], isPrefix: Bool, in index: IndexID) throws(StorageError) -> Int
}
