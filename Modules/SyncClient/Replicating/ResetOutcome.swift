import StoreValues
import Vivarium

/// What came of a reset: the file has the server's objects now, and on top of them what was redone.
public struct ResetOutcome: Hashable, Sendable {
  /// Why the server's objects took the place of the file's.
  public enum Cause: Hashable, Sendable {
    /// The histories differ: the server or the file was restored from a back-up, the file is a copy, or was away for too long. The
    /// changes that waited were dealt with as `ResetMode` says.
    case otherHistory
    /// The objects differed, though the history is the same (`SyncErrorCode.stateDiffers`). The changes that waited were redone.
    case objectsDiffer
  }

  /// Why the server's objects took the place of the file's.
  public let cause: Cause
  /// The number of waiting writes that were redone, as a whole or in part. They are sent now.
  public let recovered: Int
  /// The number of waiting writes that are lost as a whole.
  public let dropped: Int
  /// The objects of what is lost, also of parts of redone writes: what they acted in is gone, somebody else wrote the same later, or the
  /// mode is to discard. A creation that exists already and a removal of what is gone are not lost.
  public let droppedObjects: Set<ObjectID>

  /// nil if only a clock was wrong.
  init?(_ cause: SyncResetCause, _ report: RecoveryReport) {
    switch cause {
    case .otherHistory: self.cause = .otherHistory
    case .objectsDiffer: self.cause = .objectsDiffer
    case .clock: return nil
    }
    (recovered, dropped, droppedObjects) = (report.recovered, report.dropped, report.objects)
  }

  /// The objects of one type in `droppedObjects`, in a store before or after the reset; without those that do not exist there.
  public func droppedObjects<T: Model>(_ type: T.Type, in store: Store) -> [T] {
    let keys = droppedObjects.filter { $0.type == T._$name }.map(\.key.rawValue).sorted()
    return keys.compactMap { store.resolve(ObjectReference<T>(key: $0, in: store)) }
  }
}
