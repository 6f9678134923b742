import StoreMessages
import SyncClient
import SyncProtocol
import Vivarium

/// A user's management store: it holds his requests to the server, and the server's answers.
public enum ManagementStore {
  /// The store's path on the server, different for each user.
  public static let path = "/~/__management"

  /// The models of the store.
  public static let models: [any SchemaDescribing.Type] = [
    SyncPermissionChange.self, SyncPermissionOffer.self, SyncPermissionOfferResponse.self,
  ]

  /// Makes the configuration for opening the store.
  ///
  /// - Parameters:
  ///   - configuration: the file and its engine: `.lmdb(url)`. Its models are replaced.
  ///   - user: the store's user.
  ///   - connector: how to reach the server.
  public static func configuration(
    _ configuration: StoreConfiguration, user: any SyncCredentials, connector: any SyncConnector
  ) -> StoreConfiguration {
    var configuration = configuration
    configuration.models = models
    configuration.sync = SyncConfiguration(user: user, path: path, connector: connector)
    return configuration
  }
}

extension SyncCredentials {
  /// Opens the user's management store, in the context of the caller. Requests for rights on his stores (`SyncPermissionChange`,
  /// `SyncPermissionOffer`) are written there, and answered there.
  ///
  /// ```swift
  /// let management = try user.managementStore(.lmdb(folder.appending(path: "management")), connector: connector)
  /// ```
  ///
  /// Throws errors of opening a store. Requests written without a network are sent once there is one.
  public func managementStore(
    _ configuration: StoreConfiguration, connector: any SyncConnector, isolation: isolated (any Actor)? = #isolation
  ) throws(StoreError) -> Store {
    try Store(ManagementStore.configuration(configuration, user: self, connector: connector), isolation: isolation)
  }
}
