import StorageEncryption
import StorageInterface
import StorageLMDB
import StorageSQLite

/// The kinds of stores that kill tests and power cuts use, as the tests and their child processes open them.
public enum CrashedStore: String, CaseIterable, Sendable {
  case lmdb
  case sqlite
  #if Encryption
  case encrypted
  case encryptedLMDB = "encrypted-lmdb"
  #endif

  /// The store in the file at a path.
  public func backend(_ path: String) throws -> any StorageBackend {
    switch self {
    case .lmdb: LMDBBackend(path: path, keepsJournal: true)
    case .sqlite: SQLiteBackend(path: path)
    #if Encryption
    case .encrypted, .encryptedLMDB: backend(path, try Self.key)
    #endif
    }
  }

  /// The store in the file at a path, with a key or none.
  public func backend(_ path: String, _ key: (any StoreKey)?) -> any KeyChanging {
    switch self {
    case .lmdb: LMDBBackend(path: path, key: key)
    case .sqlite: SQLiteBackend(path: path, key: key)
    #if Encryption
    case .encrypted: SQLiteBackend(path: path, key: key)
    case .encryptedLMDB: LMDBBackend(path: path, key: key)
    #endif
    }
  }

  /// How the copy with this number is encrypted: copies take turns.
  public func encryption(ofCopy number: Int64) throws -> CopyEncryption {
    #if Encryption
    switch (self, number % 3) {
    case (.encrypted, 1), (.encryptedLMDB, 1), (.sqlite, 1), (.lmdb, 1): return .key(try Self.otherKey)
    case (.encrypted, 2), (.encryptedLMDB, 2): return .none
    default: break
    }
    #endif
    return .unchanged
  }

  /// The store in the copy with this number.
  public func backend(ofCopy number: Int64, _ path: String) throws -> any StorageBackend {
    switch try encryption(ofCopy: number) {
    case .unchanged: try backend(path)
    case .none: backend(path, nil)
    case .key(let key): backend(path, key)
    }
  }

  #if Encryption
  /// The key after the change with this number; nil: it is not encrypted then.
  public static func key(afterChange number: Int64) throws -> EncryptionKey? {
    switch number % 3 {
    case 0: try key
    case 1: try otherKey
    default: nil
    }
  }

  private static var key: EncryptionKey { get throws { try EncryptionKey(repeatElement(7, count: EncryptionKey.byteCount)) } }
  private static var otherKey: EncryptionKey { get throws { try EncryptionKey(repeatElement(8, count: EncryptionKey.byteCount)) } }
  #endif
}
