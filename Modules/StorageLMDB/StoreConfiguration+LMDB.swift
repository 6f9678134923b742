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
  /// - url: the file, which need not exist; its directory must.
  ///   - models: the types the store holds.
  public static func lmdb(_ url: URL, models: any SchemaDescribing.Type...) -> StoreConfiguration {
    StoreConfiguration(backend: LMDBBackend(path: url.storePath), models: models)
  }

  /// As `lmdb(_:models:)`, for a path.
  public static func lmdb(path: String, models: any SchemaDescribing.Type...) -> StoreConfiguration {
    StoreConfiguration(backend: LMDBBackend(path: path), models: models)
  }
}
