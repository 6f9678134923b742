import StoreValues

/// Reading links backwards.
///
/// Called for each inverse that is read, and for each object that is deleted, once for each property that could link to it. On one
/// thread at a time.
public protocol LinkReading: VersionReading {
  /// The backlinks of an object: keys of the objects whose to-one link, or list, set or map of links, `column` points to
  /// `target`, ascending; a collection that holds the target twice gives its owner twice. Maintained by the engine for
  /// every relationship. Not an error when the target does not live: nothing points to it.
  func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// The same for an object of any type: `column` may also be mixed, a scalar or a collection, and gives its owner as
  /// often as the target is linked, at any depth of lists and maps. A relationship that points to another type
  /// has none.
  func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)
}
