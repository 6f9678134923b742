import StoreMessages
import SyncClient
import SyncProtocol
import Vivarium

/// A user's management store: what he asks of the server, and what the server answers.
public enum ManagementStore {
  /// Where it is on the server, for each user his own.
  public static let path = "/~/__management"

  /// What is in it.
  public static let models: [any SchemaDescribing.Type] = [
    SyncPermissionChange.self, SyncPermissionOffer.self, SyncPermissionOfferResponse.self,
  ]

  /// How it is opened.
  ///
  /// - Parameters:
  ///   - configuration: where the file is, and which engine keeps it: `.lmdb(url)`. Its models are replaced.
  ///   - user: whose.
  ///   - connector: how the server is reached.
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
  /// Opens the user's management store, in the context of the caller: who may do what in his stores is asked for there
  /// (`SyncPermissionChange`, `SyncPermissionOffer`), and answered.
  ///
  /// ```swift
  /// let management = try user.managementStore(.lmdb(folder.appending(path: "management")), connector: connector)
  /// ```
  ///
  /// Throws what opening a store throws. What is written without a network is asked for when there is one.
  public func managementStore(
    _ configuration: StoreConfiguration, connector: any SyncConnector, isolation: isolated (any Actor)? = #isolation
  ) throws(StoreError) -> Store {
    try Store(ManagementStore.configuration(configuration, user: self, connector: connector), isolation: isolation)
  }
}
