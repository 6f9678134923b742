import Dispatch
import Storage
import Synchronization

/// The right to write, waited for on the worker and taken by the store that asked, once.
final class WriteAcquisition: Sendable {
  private struct Carried: @unchecked Sendable {
    // Sound because a write transaction is bound to no thread, only to one owner at a time, and `take` gives it to
    // the first who asks and to nobody after.
    let write: any WriteTransaction
  }

  private let result = Mutex<Result<Carried, StoreError>?>(nil)
  private let arrived = DispatchSemaphore(value: 0)

  init() {}

  /// Begins a write on the calling thread, for the taker.
  func fulfil(_ engine: any StorageEngine, _ deadline: Deadline) {
    let made = Result { () throws(StoreError) in
      try storing { () throws(StorageError) in Carried(write: try engine.beginWrite(deadline)) }
    }
    result.withLock { $0 = made }
    arrived.signal()
  }

  /// What came; nil: nothing yet, or it was taken.
  func take() -> Result<any WriteTransaction, StoreError>? {
    let taken = result.withLock { result in
      defer { result = nil }
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

/// A block that waits for the right to write on its store's context.
struct PendingWrite {
  let request: AsyncWrite
  let deadline: Deadline
  let block: () throws -> Void
  let onError: (any Error) -> Void
}
