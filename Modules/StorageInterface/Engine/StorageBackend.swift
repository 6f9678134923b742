/// A kind of engine and the place its data is: what a configuration holds until the store is opened. A plain
/// value; making one touches nothing.
public protocol StorageBackend: Sendable {
  /// "lmdb", "sqlite", "memory".
  var kind: String { get }
  /// A path, or the identifier of a store in memory.
  var location: String { get }
  /// Whether `location` is the path of a file, which other processes may open too.
  var isFile: Bool { get }

  /// Opens, or returns the engine that is already open for the same store in this process: identity is the
  /// file's, not the path's; the options of the first open hold. Creates the store when it is missing and `options` allow it.
  ///
  /// Throws `.fileNotFound`, `.permissionDenied`, `.foreignFile`, `.corrupt`, `.unsupportedVersion`,
  /// `.alreadyOpen`, `.addressSpace`, `.outOfDiskSpace`, `.io`; then nothing was changed.
  func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine

  /// Whether there is a store of this kind at the location, judged by its first bytes. False for whatever
  /// cannot be read.
  func isPresent() -> Bool

  /// Removes the store with all its side files. `.alreadyOpen` while it is open anywhere.
  func remove() throws(StorageError)
}

/// How to open.
public struct OpenOptions: Sendable, Hashable {
  /// Opens for reading alone: writes nothing, creates nothing, needs no permission to write.
  public var isReadOnly: Bool
  /// Whether a missing store is made. Ignored when read-only.
  public var createsIfMissing: Bool
  /// How many commits the history keeps at least. Older records may be dropped by any commit.
  public var historyLimit: Int

  public init(isReadOnly: Bool = false, createsIfMissing: Bool = true, historyLimit: Int = 10_000) {
    self.isReadOnly = isReadOnly
    self.createsIfMissing = createsIfMissing
    self.historyLimit = historyLimit
  }
}
