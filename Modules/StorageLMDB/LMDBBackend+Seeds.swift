import StorageInterface

extension LMDBBackend: SeedReading {
  public func elsewhere(_ path: String) -> any StorageBackend { LMDBBackend(path: path, key: key) }

  public func openSeed(_ path: String) throws(StorageError) -> (engine: any StorageEngine, encryption: CopyEncryption) {
    let options = OpenOptions(isReadOnly: true)
    do throws(StorageError) { return (try elsewhere(path).open(options), .unchanged) } catch {
      guard error.code == .notEncrypted, let key else { throw error }
      return (try LMDBBackend(path: path).open(options), .key(key))
    }
  }
}
