/// A backend whose new stores can begin as copies of a file of the same kind: see `StoreConfiguration.seed`.
public protocol SeedReading: StorageBackend {
  /// A store of the same kind in another file, with the same key. Opens nothing.
  func elsewhere(_ path: String) -> any StorageBackend

  /// Opens the store at `path` for reading alone, with the backend's key or, if it is not encrypted, without one, and returns it with
  /// the encryption by which a copy gets the backend's key. The engine may be shared: it closes with its last reference.
  ///
  /// Throws the errors of `open`, for the store at `path`.
  func openSeed(_ path: String) throws(StorageError) -> (engine: any StorageEngine, encryption: CopyEncryption)
}
