/// A kind of engine and the location of its data: the part of a configuration that opens the store. A plain value; creating one
/// touches nothing.
public protocol StorageBackend: Sendable {
  /// "lmdb", "sqlite", "memory".
  var kind: String { get }
  /// A path, or the name of a store in memory.
  var location: String { get }
  /// Whether `location` is the path of a file, which other processes may open too.
  var isFile: Bool { get }

  /// Opens the store, or returns the engine that already has it open in this process: identity is the file's, not the path's,
  /// and the options of the first open apply. Creates the store if it is missing and `options` allow it.
  ///
  /// Throws `.fileNotFound`, `.permissionDenied`, `.foreignFile`, `.corrupt`, `.unsupportedVersion`, `.alreadyOpen`,
  /// `.addressSpace`, `.outOfDiskSpace`, `.io`; then nothing was changed.
  func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine

  /// Whether there is a store of this kind at the location, by its first bytes. False if they cannot be read.
  func isPresent() -> Bool

  /// Removes the store with all its side files. `.alreadyOpen` while it is open anywhere.
  func remove() throws(StorageError)
}

/// Options for opening a store.
public struct OpenOptions: Sendable, Hashable {
  /// Opens read-only: writes nothing, creates nothing, needs no write permission.
  public var isReadOnly: Bool
  /// Whether to create a missing store. Ignored when read-only.
  public var createsIfMissing: Bool
  /// How many commits the history keeps at least. Any commit may drop older records.
  public var historyLimit: Int
  /// Whether a new store can be read and written by its owner alone (permissions 0600), whatever the process's umask is. Has no
  /// effect on a store that exists: files beside it, and copies, get the permissions of its file.
  public var isPrivate: Bool

  public init(
    isReadOnly: Bool = false, createsIfMissing: Bool = true, historyLimit: Int = 10_000, isPrivate: Bool = false
  ) {
    self.isPrivate = isPrivate
    self.isReadOnly = isReadOnly
    self.createsIfMissing = createsIfMissing
    self.historyLimit = historyLimit
  }
}
