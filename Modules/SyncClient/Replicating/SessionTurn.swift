import StorageCoordination
import StorageInterface
import Synchronization
import Vivarium

/// The right to replicate a file: one replicator in all processes has it. If a process dies, the kernel releases it.
final class SessionTurn: Sendable {
  /// The files replicated by this process, by the number of the open file.
  private static let taken = Mutex<Set<UInt64>>([])
  /// The interval at which a waiting replicator retries.
  private static let pause = Duration.milliseconds(250)

  private let number: UInt64
  private let path: String?
  private let held: Mutex<Held>

  private struct Held {
    var isTaken = false
    var lock: FileTurn?
    var isOver = false
  }

  init(of file: SharedFile) {
    number = file.number
    path = file.path
    held = Mutex(Held())
  }

  /// Waits for the right; returns false if it is given up in between. Throws if the lock file cannot be made, since other processes could
  /// not be excluded.
  func begin() async throws -> Bool {
    held.withLock { $0.isOver = false }
    while !held.withLock({ $0.isOver }) {
      if try tryBegin() { return true }
      do { try await Task.sleep(for: SessionTurn.pause) } catch { return false }
    }
    return false
  }

  private func tryBegin() throws(StorageError) -> Bool {
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

  /// Releases the right. Idempotent.
  func end() {
    held.withLock { held in
      held.isOver = true
      guard held.isTaken else { return }
      (held.isTaken, held.lock) = (false, nil)
      _ = SessionTurn.taken.withLock { $0.remove(number) }
    }
  }
}
