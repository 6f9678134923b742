import Foundation
import Synchronization
import VivariumTestSupport

/// Work on a thread of its own.
final class Background<Output: Sendable>: Sendable {
  private let result = Mutex<Result<Output, any Error>?>(nil)
  private let done = Signal()

  init(_ body: @escaping @Sendable () throws -> Output) {
    Thread.detachNewThread { [self] in
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
      done.fire()
    }
  }

  /// Waits for the end, and gives or throws what came out.
  func wait(file: String = #fileID, line: Int = #line) throws -> Output {
    guard done.wait(), let outcome = result.withLock({ $0 }) else {
      throw ConformanceFailure("the other thread did not come to an end", file: file, line: line)
    }
    return try outcome.get()
  }
}

/// Runs the body on another thread and waits for it.
func onAnotherThread<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) throws -> Output {
  try Background(body).wait()
}

/// A thing that is not `Sendable` on its way to another thread.
///
/// Safe because the storage interface says that a write may move between threads with one owner at a time, and whoever makes
/// a `Handed` touches the thing again only after the other thread has ended.
struct Handed<Thing>: @unchecked Sendable {  // one owner at a time, as explained above
  let thing: Thing
}
