import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues

extension LMDBStore {
  /// `snapshot`: of this store, or what a `SealedStore` above shows of one, which is copied with another key or none.
  package func writeCopy(
    of snapshot: any KeyValueSnapshot, to path: String, _ encryption: CopyEncryption, isPrivate: Bool,
    _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    let sealed = snapshot as? SealedSnapshot
    guard let stored = (sealed?.base ?? snapshot) as? LMDBSnapshot else {
      throw StorageError(.misuse, .statement, "The snapshot is of another store.")
    }
    let content: CopyContent =
      switch encryption {
      case .unchanged: .stored
      case .none: sealed == nil ? .stored : .shown(snapshot, key: nil)
      case .key(let key): .shown(snapshot, key: key)
      }
    let view = try stored.running()
    let path = try LMDBFiles.unused(path)
    let expected = try statistics().liveBytes
    let mode = isPrivate ? 0o600 : try environment().files.sideMode
    let isMade = try LMDBFiles.making(
      path, mode: mode, mapSize: LMDBCopy.mapSize(for: expected), isCopy: true
    ) { (handle, aside) throws(StorageError) in
      try LMDBCopy(handle, aside, path, expected).fill(content, of: view, stored.version, progress)
    }
    if !isMade { throw .exists(path) }
  }
}
