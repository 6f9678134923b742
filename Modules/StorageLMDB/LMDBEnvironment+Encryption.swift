import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues

/// Whether the file's entries are encrypted, which its first entries decide.
extension LMDBEnvironment {
  private enum Encryption {
    /// The file has no entries.
    case undecided
    case none
    case sealed(StoreMark)
  }

  /// The cipher of the file's entries; nil: they are not encrypted, or there are none and will be none. With a key, a file without entries
  /// is made an encrypted one.
  ///
  /// Throws `.missingKey`, `.wrongKey` and `.notEncrypted`.
  func cipher(_ key: (any StoreKey)?) throws(StorageError) -> EntryCipher? {
    switch (try encryption(), key) {
    case (.undecided, nil), (.none, nil): return nil
    case (.none, .some): throw .notEncrypted(files.data)
    case (.sealed, nil): throw .missingKey(files.data)
    case (.sealed(let mark), .some(let key)): return try mark.cipher(key, files.data)
    case (.undecided, .some(let key)):
      guard let hold = try acquireWriter(.never) else { return nil }
      // Somebody may have been first.
      guard case .undecided = try encryption() else {
        hold.release()
        return try cipher(key)
      }
      let (mark, cipher) = try StoreMark.make(key)
      let writer = LMDBWriter(self, hold, making: mark)
      defer { writer.end() }
      try writer.apply(KeyValueBatch(version: Version(0)), .full)
      return cipher
    }
  }

  private func encryption() throws(StorageError) -> Encryption {
    let (transaction, view) = try beginView()
    defer { endRead(transaction) }
    if view.isEmpty { return .undecided }
    return StoreRecord.isEncrypted(pages.format ?? 0) ? .sealed(try StoreMark.find(in: view)) : .none
  }
}
