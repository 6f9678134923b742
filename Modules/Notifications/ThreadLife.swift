import Foundation
import Synchronization

/// Whether a thread still runs, as other threads may ask, and what its run loop has yet to run.
///
/// A run loop does not tell: it outlives its thread in whoever refers to it, and takes blocks that it never runs. So it gets only the
/// numbers of the turns, which are kept here and end with the thread.
final class ThreadLife: Sendable {
  private struct Turn {
    let turn: @Sendable () -> Void
    /// Runs in its place if the thread ends before.
    let other: @Sendable () -> Void
  }

  private struct Waiting {
    var turns: [UInt64: Turn] = [:]
    var last: UInt64 = 0
  }

  /// nil: the thread has ended.
  private let waiting = Mutex<Waiting?>(Waiting())

  /// Keeps a turn until it is taken, or else runs `other` when the thread ends. If it has ended, runs `other` at once and returns nil.
  func keep(_ turn: @escaping @Sendable () -> Void, otherwise other: @escaping @Sendable () -> Void) -> UInt64? {
    let number: UInt64? = waiting.withLock { waiting in
      guard var kept = waiting else { return nil }
      // Not copied while it is changed.
      waiting = nil
      kept.last += 1
      kept.turns[kept.last] = Turn(turn: turn, other: other)
      defer { waiting = kept }
      return kept.last
    }
    if number == nil { other() }
    return number
  }

  /// Runs a turn that was kept. Called by the thread's run loop.
  func take(_ number: UInt64) { waiting.withLock { $0?.turns.removeValue(forKey: number) }?.turn() }

  /// The thread ends, and calls this: what no turn will do is done otherwise.
  private func end() {
    let left = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting?.turns ?? [:]
    }
    for (_, turn) in left.sorted(by: { $0.key < $1.key }) { turn.other() }
  }

  /// Under this key each thread that was asked about owns its life, and ends it; nil if the process has no more such keys.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key) { pointer in
      let owned: UnsafeMutableRawPointer? = pointer  // nil is possible by its type on Linux alone
      guard let owned else { return }
      // Sound: the pointer is that of `current`, which retained it for this call, and the system makes it once.
      Unmanaged<ThreadLife>.fromOpaque(owned).takeRetainedValue().end()
    }
    return result == 0 ? key : nil
  }()

  /// That of the calling thread; nil if nothing can be known of it.
  static var current: ThreadLife? {
    guard let key else { return nil }
    if let known = pthread_getspecific(key) {
      // Sound: the thread owns what is under its key until it ends.
      return Unmanaged<ThreadLife>.fromOpaque(known).takeUnretainedValue()
    }
    let life = ThreadLife()
    let owned = Unmanaged.passRetained(life)
    if pthread_setspecific(key, owned.toOpaque()) == 0 { return life }
    owned.release()
    return nil
  }
}
