import StorageInterface
import Synchronization

/// The writer's lock of a store that only this process can see.
public final class LocalWriterLock: WriterLock {
  private struct Line {
    var isHeld = false
    /// The waiting threads. To wake one is to pass the lock to it.
    var waiters: [WakeUp] = []
  }

  private let line = Mutex(Line())

  public init() {}

  public func acquire(_ deadline: Deadline) throws(StorageError) -> WriterHold {
    let waiter = line.withLock { line -> WakeUp? in
      if !line.isHeld {
        line.isHeld = true
        return nil
      }
      let waiter = WakeUp()
      line.waiters.append(waiter)
      return waiter
    }
    if let waiter, !wait(waiter, deadline) { throw StorageError.writeTimeout }
    return WriterHold(followsDeath: false) { [self] _ in passOn() }
  }

  /// The number of waiting threads. For tests and tools; the answer may be outdated on arrival.
  package var waiterCount: Int { line.withLock { $0.waiters.count } }

  private func wait(_ waiter: WakeUp, _ deadline: Deadline) -> Bool {
    if waiter.wait(deadline) { return true }
    // Timed out; but the lock may have been passed to us at the same moment, and then it is ours.
    return line.withLock { line in
      guard let position = line.waiters.firstIndex(where: { $0 === waiter }) else { return true }
      line.waiters.remove(at: position)
      return false
    }
  }

  private func passOn() {
    line.withLock { line in
      if line.waiters.isEmpty {
        line.isHeld = false
      } else {
        line.waiters.removeFirst().wake()
      }
    }
  }
}

extension Duration {
  /// Rounded up to whole nanoseconds and clamped to 64 bits (292 years).
  var nanosecondCount: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < Int64.max / 1_000_000_001 else { return UInt64(Int64.max) }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
