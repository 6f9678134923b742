import StoreValues

/// A backend that can change the key of its store, in place, while the store is not open.
public protocol KeyChanging: StorageBackend {
  /// Encrypts the store with another key, or not at all (nil). The store keeps its path, its version, history and identity.
  ///
  /// At any moment the file is the old one or the new one, whole: a process that is killed, or a machine that loses its power,
  /// leaves one of them. Then call it again; it removes what was left behind, and does nothing if the store has the new key
  /// already. Needs as much free space as the store. Calls `progress` as `FileCopying.writeCopy` does.
  ///
  /// Throws `.alreadyOpen` while any process has the store open, `.fileNotFound`, `.missingKey`, `.wrongKey`, `.notEncrypted`,
  /// `.cancelled`, `.corrupt`, `.permissionDenied` (also where the store's folder may not be read), `.outOfDiskSpace`, `.io`. After an
  /// error the store is the old one. Without one it is the new one, and survives a power cut unless the disk failed to sync the folder.
  func changeKey(to key: (any StoreKey)?, _ progress: (CopyProgress) -> Step) throws(StorageError)
}
