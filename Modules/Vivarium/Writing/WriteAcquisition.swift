import Dispatch
import Notifications
import StorageInterface
import Synchronization

/// The right to write, waited for on the worker and taken by the store that asked, once.
final class WriteAcquisition: Sendable {
  private struct Carried: @unchecked Sendable {
    // Sound because a write transaction is bound to no thread, only to one owner at a time, and `take` gives it to
    // the first who asks and to nobody after.
    let write: any WriteTransaction
  }

  private enum State {
    case pending
    case arrived(Result<Carried, StoreError>)
    /// Somebody took it.
    case spent
  }

  /// The context of the store that asked.
  let home: DeliveryContext
  private let state = Mutex(State.pending)
  private let arrived = DispatchSemaphore(value: 0)

  init(_ home: DeliveryContext) { self.home = home }

  /// Whether somebody took what came.
  var isSpent: Bool { state.withLock { if case .spent = $0 { true } else { false } } }

  /// Begins a write on the calling thread, for the taker.
  func fulfil(_ engine: any StorageEngine, _ deadline: Deadline) {
    let made = Result { () throws(StoreError) in
      try storing { () throws(StorageError) in Carried(write: try engine.beginWrite(deadline)) }
    }
    state.withLock { $0 = .arrived(made) }
    arrived.signal()
  }

  /// What came; nil: nothing yet, or it was taken.
  func take() -> Result<any WriteTransaction, StoreError>? {
    let taken = state.withLock { state -> Result<Carried, StoreError>? in
      guard case .arrived(let result) = state else { return nil }
      state = .spent
      return result
    }
    return taken.map { taken in taken.map { $0.write } }
  }

  /// Lets go of what came: nobody will take it.
  func abandon() {
    if case .success(let write) = take() { write.end() }
  }

  /// Blocks until it comes, and takes it; nil past the deadline.
  func wait(_ deadline: Deadline) -> Result<any WriteTransaction, StoreError>? {
    if let time = deadline.dispatchTime {
      guard arrived.wait(timeout: time) == .success else { return nil }
    } else {
      arrived.wait()
    }
    return take()
  }
}

extension SharedEngine {
  /// The right that another store of the context waits for, which comes before any that is asked for now; nil when none
  /// does. That store goes for a new one afterwards.
  func takeAcquired(for home: DeliveryContext, _ deadline: Deadline) throws(StoreError) -> (any WriteTransaction)? {
    let waiting = acquisitions.withLock { $0.compactMap(\.acquisition) }
    guard let other = waiting.first(where: { !$0.isSpent && $0.home.isSame(as: home) }) else { return nil }
    guard let result = other.wait(deadline) else { throw StoreError(StorageError.lateForWrite) }
    if case .success(let write) = result { return write }
    return nil
  }

  /// Lets other stores of the context find it.
  func note(_ acquisition: WriteAcquisition) {
    acquisitions.withLock { acquisitions in
      acquisitions.removeAll { $0.acquisition?.isSpent ?? true }
      acquisitions.append(WeakAcquisition(acquisition))
    }
  }
}

struct WeakAcquisition {
  weak let acquisition: WriteAcquisition?

  init(_ acquisition: WriteAcquisition) { self.acquisition = acquisition }
}

extension DeliveryContext {
  /// Whether what runs on one can never run beside what runs on the other.
  func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.actor(let a), .actor(let b)): a.actor != nil && a.actor === b.actor
    case (.queue(let a), .queue(let b)): a === b
    case (.runLoop(let a), .runLoop(let b)): a.isCurrent && b.isCurrent
    default: false
    }
  }
}

/// A block that waits for the right to write on its store's context.
struct PendingWrite {
  let request: AsyncWrite
  let deadline: Deadline
  let block: () throws -> Void
  let onError: (any Error) -> Void
}
