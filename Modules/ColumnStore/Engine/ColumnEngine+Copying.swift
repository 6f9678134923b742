import StorageInterface
import StoreValues

extension ColumnEngine: FileCopying {
  /// As `FileCopying` describes. `.key` throws `.unsupported`, because index keys are stored in sort order.
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
