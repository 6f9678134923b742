import StorageInterface
import StoreValues

extension ColumnEngine: FileCopying {
  /// As `FileCopying` describes, by the store below.
  @discardableResult
  public func writeCopy(
    to path: String, _ encryption: CopyEncryption, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version {
    try writeCopy(to: path, encryption, isPrivate: false, progress)
  }

  /// As `FileCopying` describes.
  @discardableResult
  public func writeCopy(
    to path: String, _ encryption: CopyEncryption, isPrivate: Bool, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version {
    try checkOpen()
    guard let upkeep = store.upkeep else {
      throw StorageError(.unsupported, .statement, "A store of the engine '\(kind)' has no file that could be copied.")
    }
    let snapshot = try store.beginSnapshot()
    defer { snapshot.end() }
    try upkeep.writeCopy(of: snapshot, to: path, encryption, isPrivate: isPrivate, progress)
    return snapshot.version
  }
}
