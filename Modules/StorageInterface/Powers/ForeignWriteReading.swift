/// A power of transactions of a file that other programs may write without the library, as an SQLite file.
///
/// What they write is in the objects at once, and in the history only from the next write of the library on, which gives it a commit
/// record of origin 0. Until then the version has changes that no record names.
public protocol ForeignWriteReading: StorageReading {
  /// Whether the version has changes of other programs that are in no commit record yet. O(1). Errors as in `StorageReading`.
  func hasUnrecordedWrites() throws(StorageError) -> Bool
}
