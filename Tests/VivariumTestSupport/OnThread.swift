import Foundation

/// Runs work on a thread of its own, and gives what fires at its end.
///
/// Not on the global queue: while one of its threads runs, a test that waits in a loop for instance, it makes no more of them
/// than there are processors, and threads that wait count.
@discardableResult
public func onThread(_ body: @escaping @Sendable () -> Void) -> Signal {
  let done = Signal()
  Thread.detachNewThread {
    body()
    done.fire()
  }
  return done
}

/// Waits for work on a thread of its own, and gives what it made: for what may block, and would keep a task from its thread.
public func elsewhere<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    onThread { continuation.resume(returning: body()) }
  }
}
