import StoreValues

/// Reading links backwards.
///
/// Called for each inverse that is read, and for each object that is deleted, once per property that could link to it. On one
/// thread at a time.
public protocol LinkReading: VersionReading {
  /// The backlinks of an object: keys of the objects whose to-one link, or list, set or map of links, `column` points to
  /// `target`, ascending; an owner occurs twice if its collection holds the target twice. The engine maintains them for every
  /// relationship. For a target that does not exist the result is empty, not an error.
  func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)

  /// The same for an object of any type: `column` may also be mixed, a scalar or a collection, and gives its owner as often as
  /// the target is linked, at any depth of lists and maps. A relationship to another type has none.
  func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError)
}
