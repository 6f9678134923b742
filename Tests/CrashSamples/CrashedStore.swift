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
  #endif

  /// The store in the file at a path.
  public func backend(_ path: String) throws -> any StorageBackend {
    switch self {
    case .lmdb: LMDBBackend(path: path)
    case .sqlite: SQLiteBackend(path: path)
    #if Encryption
    case .encrypted: SQLiteBackend(path: path, key: try Self.key)
    #endif
    }
  }

  /// How the copy with this number is encrypted: copies take turns.
  public func encryption(ofCopy number: Int64) throws -> CopyEncryption {
    #if Encryption
    switch (self, number % 3) {
    case (.encrypted, 1), (.sqlite, 1): return .key(try Self.otherKey)
    case (.encrypted, 2): return .none
    default: break
    }
    #endif
    return .unchanged
  }

  /// The store in the copy with this number.
  public func backend(ofCopy number: Int64, _ path: String) throws -> any StorageBackend {
    switch try encryption(ofCopy: number) {
    case .unchanged: try backend(path)
    case .none: SQLiteBackend(path: path)
    case .key(let key): SQLiteBackend(path: path, key: key)
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
