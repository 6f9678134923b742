import StorageCoordination
import StorageInterface
import Synchronization
import Vivarium

/// The right to replicate a file: one replicator in all processes has it. If a process dies, the kernel releases it.
final class SessionTurn: Sendable {
  /// The files replicated by this process, by the number of the open file.
  private static let taken = Mutex<Set<UInt64>>([])
  /// The interval at which a waiting replicator retries: whoever ends or dies is replaced within a second, also on a busy machine.
  static let pause = Duration.milliseconds(250)

  private let number: UInt64
  private let path: String?
  private let wait: @Sendable (Duration) async throws -> Void
  private let held: Mutex<Held>

  private struct Held {
    var isTaken = false
    var lock: FileTurn?
    var isOver = false
    /// The runs of reads and writes under way.
    var works = 0
  }

  /// - Parameter wait: waits for a time, and throws if the task is cancelled; tests have their own.
  init(of file: SharedFile, wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
    number = file.number
    path = file.path
    self.wait = wait
    held = Mutex(Held())
  }

  /// Waits for the right; returns false if it is given up in between. Throws if the lock file cannot be made, since other processes could
  /// not be excluded.
  ///
  /// - Parameter standsBy: called each time somebody else has the right.
  func begin(_ standsBy: @Sendable () async -> Void = {}) async throws -> Bool {
    held.withLock { $0.isOver = false }
    while !held.withLock({ $0.isOver }) {
      if try tryBegin() { return true }
      await standsBy()
      do { try await wait(SessionTurn.pause) } catch { return false }
    }
    return false
  }

  /// Takes the right if nobody else has it.
  func tryBegin() throws(StorageError) -> Bool {
    try held.withLock { held throws(StorageError) in
      if held.isTaken { return true }
      if held.isOver { return false }
      guard SessionTurn.taken.withLock({ $0.insert(number).inserted }) else { return false }
      defer { if !held.isTaken { _ = SessionTurn.taken.withLock { $0.remove(number) } } }
      if let path {
        guard let lock = try FileTurn.take(path: path + FileTurn.replication, "file of who replicates it") else { return false }
        held.lock = lock
      }
      held.isTaken = true
      return true
    }
  }

  /// Whether this replicator has the right, and has not given it up.
  var isHeld: Bool { held.withLock { $0.isTaken && !$0.isOver } }

  /// Begins to read and write the file: until `leave` nobody else gets the right, even if it is given up meanwhile. Whoever came next
  /// would have its work undone by one that waited for the write lock.
  func enter() { held.withLock { $0.works += 1 } }

  /// Ends what `enter` began.
  func leave() {
    held.withLock { held in
      held.works -= 1
      if held.isOver { SessionTurn.release(&held, number) }
    }
  }

  /// Gives up the right: at once or, if work is under way, when that ends. Idempotent.
  func end() {
    held.withLock { held in
      held.isOver = true
      SessionTurn.release(&held, number)
    }
  }

  private static func release(_ held: inout Held, _ number: UInt64) {
    guard held.isTaken, held.works == 0 else { return }
    (held.isTaken, held.lock) = (false, nil)
    _ = taken.withLock { $0.remove(number) }
  }
}
