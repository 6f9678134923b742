import CLMDB
import Coordination
import Dispatch
import Synchronization

/// Syncs commits in the background that asked for it within a bound, several at once.
final class Flusher: Sendable {
  private let due = Mutex<DispatchTime?>(nil)
  private static let queue = DispatchQueue(label: "vivarium.lmdb.flush", qos: .utility)

  /// Sees to it that everything committed by now is on the disk after `bound` at the latest. The environment
  /// stays open until then.
  func flush(_ environment: LMDBEnvironment, within bound: Duration) {
    let (seconds, attoseconds) = bound.components
    // The sync itself takes time, so it starts at half the bound.
    let nanoseconds = min(Double(seconds) * 5e8 + Double(attoseconds) / 2e9, 3.6e12)
    let time = DispatchTime.now() + .nanoseconds(Int(max(nanoseconds, 0)))
    let isNeeded = due.withLock { due in
      if let due, due <= time { return false }
      due = time
      return true
    }
    guard isNeeded else { return }
    Flusher.queue.asyncAfter(deadline: time) {
      // A sooner one may have been asked for since, and has done the work.
      environment.flusher.clear(time)
      if !environment.mark.isStale { mdb_env_sync(environment.pointer, 1) }
    }
  }

  /// Commits from here on need another sync.
  private func clear(_ time: DispatchTime) {
    due.withLock { due in if due == time { due = nil } }
  }
}
