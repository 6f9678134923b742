import ChangeTracker
import Foundation
import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol
import Vivarium

/// How a file is replicated: with whom, which types, and what becomes of the objects that are in it already.
///
/// ```swift
/// configuration.sync = SyncConfiguration(user: FixedToken(token), path: "/~/tasks", connector: connector)
/// let store = try Store(configuration)      // replicates from now on, in the background
/// ```
public struct SyncConfiguration: Sendable {
  /// What becomes of objects that are in the file before its first replicated write.
  public enum ExistingObjects: Sendable {
    /// The first write is refused (`.syncRequired`): nothing is sent that nobody meant to send.
    case refuse
    /// They are sent as if they had been created with defaults: where others have the same object, what they wrote stays.
    case merge
  }

  /// With whom a file is replicated.
  struct Remote: Sendable {
    let user: any SyncCredentials
    let path: String
    let connector: any SyncConnector
  }

  /// Types whose objects stay on the device. No type that is replicated may link to them. `MessageReceipt`, by which the handlers of a
  /// device know what they have done, is one of them in any case.
  public var localTypes: [any SchemaDescribing.Type]
  /// What becomes of objects that are there already.
  public var existing: ExistingObjects
  /// How the replicator goes about it, where there is a server.
  public var options = Replicator.Options()
  /// nil where what is written is kept for others, and a replicator of the app's own is to send it.
  let remote: Remote?
  /// Milliseconds since 1970: what this device believes. For tests.
  package var wallClock: @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }

  /// The replica that a new file becomes; nil draws one. For tests.
  package var replica: ReplicaID?

  /// A file that is kept the same as a server's store for as long as a store of it is open. Opening waits for no network; several
  /// stores of one file, in however many processes, have one replicator at work (`Store.sync`). The first store of a file that is opened
  /// in a process says how.
  ///
  /// - Parameters:
  ///   - user: who it is, to the server.
  ///   - path: of the server's store: "/~/tasks" for the user's own, "/shared/shop".
  ///   - connector: how the server is reached.
  public init(
    user: any SyncCredentials, path: String, connector: any SyncConnector, localTypes: [any SchemaDescribing.Type] = [],
    existing: ExistingObjects = .refuse
  ) {
    remote = Remote(user: user, path: path, connector: connector)
    (self.localTypes, self.existing) = (localTypes, existing)
  }

  /// A file that keeps what others have to hear of it, and is sent by a replicator of the app's own (`Store.replicator`), or later. By
  /// default everything is replicated, and a file with objects is refused.
  public init(localTypes: [any SchemaDescribing.Type] = [], existing: ExistingObjects = .refuse) {
    remote = nil
    (self.localTypes, self.existing) = (localTypes, existing)
  }
}

extension StoreConfiguration {
  /// Keeps, with every write, what other replicas have to hear of it, and replicates with a server where it names one. To be the same
  /// wherever the file is opened for writing: once it was written so, a store without it cannot write it (`.syncRequired`). nil
  /// for a file that is no replica.
  public var sync: SyncConfiguration? {
    get { (companion as? Capture)?.configuration }
    set { companion = newValue.map { Capture($0) } }
  }

  /// As setting `sync`.
  public mutating func replicate(_ configuration: SyncConfiguration = SyncConfiguration()) { sync = configuration }
}
