import StorageInterface

extension LMDBBackend: SeedReading {
  public func elsewhere(_ path: String) -> any StorageBackend { LMDBBackend(path: path) }

  public func openSeed(_ path: String) throws(StorageError) -> (engine: any StorageEngine, encryption: CopyEncryption) {
    (try elsewhere(path).open(OpenOptions(isReadOnly: true)), .unchanged)
  }
}
