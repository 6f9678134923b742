import ChangeTracker
import Foundation
import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol
import Vivarium

/// How a file is replicated: with which server, which types, and what becomes of the objects that it already has.
///
/// ```swift
/// configuration.sync = SyncConfiguration(user: FixedToken(token), path: "/~/tasks", connector: connector)
/// let store = try Store(configuration)      // replicates from now on, in the background
/// ```
public struct SyncConfiguration: Sendable {
  /// What becomes of objects written before the file's first replicated write.
  public enum ExistingObjects: Sendable {
    /// The first replicated write throws `.syncRequired`, so nothing is sent by accident.
    case refuse
    /// They are sent as if they had been created with defaults: if others have the same object, their values win.
    case merge
  }

  /// The server store that a file is replicated with.
  struct Remote: Sendable {
    let user: any SyncCredentials
    let path: String
    let connector: any SyncConnector
  }

  /// Types whose objects stay on the device. No replicated type may link to them. `MessageReceipt`, in which the handlers of a device
  /// record what they have done, is always one of them.
  public var localTypes: [any SchemaDescribing.Type]
  /// What becomes of objects that already exist.
  public var existing: ExistingObjects
  /// The options of the replicator, if there is a server.
  public var options = Replicator.Options()
  /// nil if the file only keeps its changes for others, and a replicator of the app's own sends them.
  let remote: Remote?
  /// The device's clock in milliseconds since 1970. For tests.
  package var wallClock: @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }

  /// The replica that a new file becomes; nil draws one. For tests.
  package var replica: ReplicaID?

  /// Replicates a file with a server's store for as long as a store of the file is open. Opening does not wait for the network. Several
  /// stores of one file, in any number of processes, have one replicator at work (`Store.sync`). In each process the configuration of the
  /// first store opened on the file counts.
  ///
  /// - Parameters:
  ///   - user: identifies the user to the server.
  ///   - path: the path of the server's store: "/~/tasks" for the user's own, "/shared/shop".
  ///   - connector: how to reach the server.
  public init(
    user: any SyncCredentials, path: String, connector: any SyncConnector, localTypes: [any SchemaDescribing.Type] = [],
    existing: ExistingObjects = .refuse
  ) {
    remote = Remote(user: user, path: path, connector: connector)
    (self.localTypes, self.existing) = (localTypes, existing)
  }

  /// Keeps the changes of a file for other replicas; a replicator of the app's own (`Store.replicator`) sends them, or a later one. By
  /// default every type is replicated, and a file that already has objects is refused.
  public init(localTypes: [any SchemaDescribing.Type] = [], existing: ExistingObjects = .refuse) {
    remote = nil
    (self.localTypes, self.existing) = (localTypes, existing)
  }
}

extension StoreConfiguration {
  /// Makes every write also record what other replicas need to know, and replicates with a server if the configuration names one. Use the
  /// same configuration wherever the file is opened for writing: once it was written so, a store without one cannot write it
  /// (`.syncRequired`). nil for a file that is not a replica.
  public var sync: SyncConfiguration? {
    get { (companion as? Capture)?.configuration }
    set { companion = newValue.map { Capture($0) } }
  }

  /// Sets `sync`.
  public mutating func replicate(_ configuration: SyncConfiguration = SyncConfiguration()) { sync = configuration }
}
