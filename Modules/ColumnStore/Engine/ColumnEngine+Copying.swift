import StorageInterface
import StoreValues

extension ColumnEngine: FileCopying {
  /// As `FileCopying` says; with `.key`, `.unsupported`: keys of indexes lie in the file as they are sorted.
  public func writeCopy(
    to path: String, _ encryption: CopyEncryption, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    try checkOpen()
    if case .key = encryption {
      throw StorageError(
        .unsupported, .statement, "A store of the engine '\(kind)' cannot be encrypted.",
        remedy: "Keep it in SQLite ('StorageEncryption'), or on a volume that the system encrypts.")
    }
    guard let upkeep = store.upkeep else {
      throw StorageError(.unsupported, .statement, "A store of the engine '\(kind)' has no file that could be copied.")
    }
    let snapshot = try store.beginSnapshot()
    defer { snapshot.end() }
    try upkeep.writeCopy(of: snapshot, to: path, progress)
  }
}
