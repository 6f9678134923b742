import ChangeTracker
import Foundation
import StorageInterface
import StoreValues
import SyncModel

/// How a file is replicated: which types, and what becomes of the objects that are in it already.
///
/// ```swift
/// configuration.sync = SyncConfiguration(localTypes: [Draft.self])
/// ```
public struct SyncConfiguration: Sendable {
  /// What becomes of objects that are in the file before its first replicated write.
  public enum ExistingObjects: Sendable {
    /// The first write is refused (`.syncRequired`): nothing is sent that nobody meant to send.
    case refuse
    /// They are sent as if they had been created with defaults: where others have the same object, what they wrote stays.
    case merge
  }

  /// Types whose objects stay on the device. No type that is replicated may link to them. `MessageReceipt`, by which the handlers of a
  /// device know what they have done, is one of them in any case.
  public var localTypes: [any SchemaDescribing.Type]
  /// What becomes of objects that are there already.
  public var existing: ExistingObjects
  /// Milliseconds since 1970: what this device believes. For tests.
  package var wallClock: @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }

  /// The replica that a new file becomes; nil draws one. For tests.
  package var replica: ReplicaID?

  /// By default everything is replicated, and a file with objects is refused.
  public init(localTypes: [any SchemaDescribing.Type] = [], existing: ExistingObjects = .refuse) {
    self.localTypes = localTypes
    self.existing = existing
  }

  fileprivate var capture: Capture {
    let names = Set(localTypes.map { $0._$schema.name }).union(["MessageReceipt"])
    return Capture(localTypes: names, wallClock: wallClock, existing: existing, replica: replica)
  }
}

extension StoreConfiguration {
  /// Keeps, with every write, what other replicas have to hear of it. To be the same wherever the file is opened for writing: once it was
  /// written so, a store without it cannot write it (`.syncRequired`).
  public mutating func replicate(_ configuration: SyncConfiguration = SyncConfiguration()) { companion = configuration.capture }
}
