import Dispatch
import Foundation
import StorageInterface
import Synchronization
import Testing
import VivariumTestSupport

@testable import Vivarium

/// What the queue adds to the decisions of its state machine.
@Suite struct WriterQueueTests {
  /// Each work waits for its own place, as an asynchronous write does. If places and works came in different orders, this would not end.
  @Test func placesAndWorksHaveOneOrderHoweverManyThreadsJoin() async throws {
    let queue = WriterQueue(try StoreConfiguration.reference(UUID().uuidString, models: []).backend.open(OpenOptions()))
    let (threads, rounds) = (4, 2_000)
    let done = AsyncSignal()
    let left = Mutex(threads * rounds)
    DispatchQueue.concurrentPerform(iterations: threads) { _ in
      for _ in 0..<rounds {
        let place = WriterQueue.Waiter()
        queue.join(place) {
          #expect(place.wait(.never))
          queue.leave(place)
          left.withLock { left in
            left -= 1
            if left == 0 { done.fire() }
          }
        }
      }
    }
    await done.wait()
    #expect(queue.count == 0)
  }
}
