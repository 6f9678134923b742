import SyncModel
import SyncServer
import Vivarium

/// An object of a server's store that a transaction created, changed or deleted, as a handler receives it.
///
/// The old and new object are in whole versions of the store: linked objects are there too, as they were before and after the
/// transaction, whatever was committed later. It may be kept and sent anywhere; while it lives, its versions take memory.
public struct ServerChange<T: Model>: Sendable {
  /// The kind of change.
  public enum Kind: Hashable, Sendable {
    /// The object was created.
    case insert
    /// Its properties, collections or embedded objects changed.
    case modify
    /// The object was deleted.
    case delete
  }

  /// The kind of change.
  public let kind: Kind
  /// The object before the transaction; nil for a created one.
  public let old: Frozen<T>?
  /// The object after the transaction; nil for a deleted one.
  public let new: Frozen<T>?
  /// The server's store.
  public let store: StorePath
  /// The number of the transaction's last entry in the store's log; it increases with each transaction, whoever wrote it.
  public let number: UInt64
  /// The user or the name of the handler who wrote the transaction.
  public let author: String
  /// Whether `author` is the name of a handler. A user may have the same name.
  public let isOfHandler: Bool
  /// A key that is the same whenever the same change is passed to the same handler, and unique otherwise: lets external systems ignore
  /// repetitions.
  public let idempotencyKey: String

  /// Identifies the object in any store passed to the handler.
  public var reference: ObjectReference<T> {
    // Every kind has `old` or `new`; without `new` it is a delete, which has `old`.
    if let new { new.reference } else { old.unsafelyUnwrapped.reference }
  }

  /// The live object in the store that a handler writes; nil if it no longer exists.
  public func object(in store: Store) -> T? { store.resolve(reference) }
}
