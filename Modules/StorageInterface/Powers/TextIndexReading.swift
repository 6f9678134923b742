import QueryModel
import StoreValues

/// A transaction that can be asked which objects have a word, by the indexes of words that its catalog lists
/// (`TableEntry.textIndexes`).
///
/// An engine that conforms keeps them with every write, in its transaction: of each object one entry for each different
/// word of the text, as `TextWords` cuts it; none for null. An engine that does not conform leaves those indexes alone, and
/// `TEXT` reads the texts.
public protocol TextIndexReading: StorageReading {
  /// Calls `body` with the objects that have the word, or with `isPrefix` any that begins so. Ascending for a word; for a
  /// beginning an object comes once for each of its words that begins so, in no order. An open write sees itself.
  func keys(
    of word: [UInt8], isPrefix: Bool, in index: IndexID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// How many entries `keys` gives, without reading them.
  func count(of word: [UInt8], isPrefix: Bool, in index: IndexID) throws(StorageError) -> Int
}
