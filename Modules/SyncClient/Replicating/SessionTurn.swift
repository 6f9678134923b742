import StorageCoordination
import StorageInterface
import Synchronization
import Vivarium

/// The right to replicate a file: one has it at a time, in whichever process. The kernel takes it back from the dead.
final class SessionTurn: Sendable {
  /// Files of this process that are being replicated, by the number of the open file.
  private static let taken = Mutex<Set<UInt64>>([])
  /// How often who waits looks.
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

  /// Waits for the right; false where it was given up meanwhile. Throws where the lock file cannot be made: others could not be told.
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

  /// Gives the right back. Idempotent.
  func end() {
    held.withLock { held in
      held.isOver = true
      guard held.isTaken else { return }
      (held.isTaken, held.lock) = (false, nil)
      _ = SessionTurn.taken.withLock { $0.remove(number) }
    }
  }
}
