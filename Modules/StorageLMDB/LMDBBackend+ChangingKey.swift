import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues

extension LMDBBackend: KeyChanging {
  /// As `KeyChanging` describes: writes a copy beside the file, and gives it the file's name.
  public func changeKey(to key: (any StoreKey)?, _ progress: (CopyProgress) -> Step) throws(StorageError) {
    if LMDBBackend.has(location, key) {
      if let files = LMDBFiles(existing: location) { AsideFile.removeAbandoned(for: files.data) }
      return
    }
    let files = try checked()
    do throws(StorageError) {
      try exchange(files, key, progress)
    } catch where error.code == .alreadyOpen {
      // Perhaps only the background of this process still has it open.
      LMDBEnvironment.waitForBackground()
      try exchange(files, key, progress)
    }
  }

  /// Whether the file is a store with exactly this key, or without one.
  private static func has(_ path: String, _ key: (any StoreKey)?) -> Bool {
    do throws(StorageError) {
      try LMDBFiles(existing: path)?.refuseOtherNames()
      return try LMDBStore(path: path, isReadOnly: true, key: key).hadEntries
    } catch {
      return false
    }
  }

  /// The files of the store, put back after a crash if that is due. Throws if it has another key than this one.
  func checked() throws(StorageError) -> LMDBFiles {
    try LMDBFiles(existing: location)?.refuseOtherNames()
    let store = try LMDBStore(path: location, createsIfMissing: false, key: key)
    return try store.environment().files
  }

  /// Replaces the file by a copy with another key, once nobody has the store open.
  func exchange(_ files: LMDBFiles, _ key: (any StoreKey)?, _ progress: (CopyProgress) -> Step) throws(StorageError) {
    try StorePresence.whileAbsent(path: files.coordination) { () throws(StorageError) in
      try files.refuseReaders()
      let stored = try RestingSnapshot(files)
      // Not what it was when it was checked: another process may have changed the key since, and its entries would be taken for plain.
      let cipher = try stored.cipher(self.key)
      let shown: any KeyValueSnapshot = cipher.map { SealedSnapshot(stored, $0) } ?? stored
      let expected = files.dataBytes
      try files.exchange(mapSize: LMDBCopy.mapSize(for: expected)) { (handle, aside) throws(StorageError) in
        let copy = LMDBCopy(handle, aside, files.data, expected)
        try copy.fill(.shown(shown, key: key), of: stored.view, stored.version, progress)
      }
    }
  }
}
