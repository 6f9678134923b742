import SyncModel
import SyncServer
import Vivarium

/// One object of a server's store that a transaction has made, changed or deleted, as a handler of events gets it.
///
/// Old and new state are whole versions of the store: what the object links to is there as well, as it was before the transaction
/// and as it was after it, however much came behind it. It may be kept and sent anywhere; while it lives, its versions take memory.
public struct ServerChange<T: Model>: Sendable {
  /// What became of the object.
  public enum Kind: Hashable, Sendable {
    /// It is new.
    case insert
    /// Properties, collections or embedded objects of it are different.
    case modify
    /// It is gone.
    case delete
  }

  /// What became of the object.
  public let kind: Kind
  /// The object before the transaction; nil of a new one.
  public let old: Frozen<T>?
  /// The object after it; nil of a deleted one.
  public let new: Frozen<T>?
  /// The server's store.
  public let store: StorePath
  /// The number of the transaction's last entry in the store's log: higher for later ones, whoever wrote them.
  public let number: UInt64
  /// The user who wrote it, or the name of the handler that did.
  public let author: String
  /// The same each time that the same change comes to the same handler, and for no other: for systems outside, so that they do nothing
  /// twice.
  public let idempotencyKey: String

  /// Names the object in any store of it that the handler is given.
  public var reference: ObjectReference<T> {
    // One of the two is there, by the kind.
    if let new { new.reference } else { old.unsafelyUnwrapped.reference }
  }

  /// The object, live in the store that a handler writes; nil where it is gone.
  public func object(in store: Store) -> T? { store.resolve(reference) }
}
