import Dispatch
import StorageInterface
import Synchronization

/// Makes commits durable in the background, with one disk sync for all that wait.
final class CommitSyncer: Sendable {
  typealias Completion = @Sendable (StoreError?) -> Void

  private let engine: any StorageEngine
  private let queue = DispatchQueue(label: "vivarium.sync", qos: .userInitiated)
  private let waiting = Mutex<[Completion]>([])
  /// The number of disk syncs; for tests.
  let syncCount = Atomic(0)

  init(_ engine: any StorageEngine) { self.engine = engine }

  /// Whether the engine can sync separately from the commit.
  var isPossible: Bool { engine.powers.syncing != nil }

  /// Calls `completion` on the sync queue once every earlier commit is durable. With `allowGrouping`, one sync serves the requests
  /// that arrive while the disk is busy.
  func sync(allowGrouping: Bool, _ completion: @escaping Completion) {
    guard let engine = engine.powers.syncing else { return completion(nil) }
    if !allowGrouping {
      queue.async { [self] in completion(run(engine)) }
      return
    }
    let isFirst = waiting.withLock { waiting in
      waiting.append(completion)
      return waiting.count == 1
    }
    guard isFirst else { return }
    queue.async { [self] in
      let served = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      let error = run(engine)
      for completion in served { completion(error) }
    }
  }

  private func run(_ engine: any DeferredSync) -> StoreError? {
    syncCount.add(1, ordering: .relaxed)
    do throws(StorageError) {
      try engine.syncCommits()
      return nil
    } catch {
      return StoreError(error)
    }
  }
}
