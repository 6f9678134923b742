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

/// Runs work on a thread, and returns once the thread has ended: what belongs to the thread is gone then, too.
public func onEndedThread(_ body: @escaping @Sendable () -> Void) {
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  let work = Unmanaged.passRetained(Work(body))
  #if canImport(Darwin)
  var made: pthread_t?
  let result = pthread_create(&made, nil, { raw in
    // Sound: the pointer is that of `work`, retained for this call.
    Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body()
    return nil
  }, work.toOpaque())
  let thread = made
  #else
  var made = pthread_t()
  let result = pthread_create(&made, nil, { raw in
    // As above.
    if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
    return nil
  }, work.toOpaque())
  let thread: pthread_t? = made
  #endif
  guard result == 0, let thread else { return work.release() }
  pthread_join(thread, nil)
}
