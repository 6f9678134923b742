#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageCoordination
import StorageInterface
import StoreValues

extension StoreConfiguration {
  /// A store in a file, kept by LMDB.
  ///
  /// - Parameters:
  ///   - url: the file, which need not exist; its directory must.
  ///   - key: the encryption key, such as an `EncryptionKey` of `StorageEncryption`; an existing file must have been created with it.
  ///   - models: the types the store holds.
  public static func lmdb(
    _ url: URL, key: (any StoreKey)? = nil, models: any SchemaDescribing.Type...
  ) -> StoreConfiguration {
    StoreConfiguration(backend: LMDBBackend(path: url.storePath, key: key), models: models)
  }

  /// As `lmdb(_:key:models:)`, for a path.
  public static func lmdb(
    path: String, key: (any StoreKey)? = nil, models: any SchemaDescribing.Type...
  ) -> StoreConfiguration {
    StoreConfiguration(backend: LMDBBackend(path: path, key: key), models: models)
  }
}
