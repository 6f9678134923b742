import CSQLite
import Coordination
import Dispatch
import Storage
import Synchronization

/// Moves the log's pages into the main file, and syncs the log for commits that were promised it: on a thread of its
/// own, so that no commit waits.
///
/// Commits go on while a checkpoint runs, and SQLite begins the log anew only when all of it has been moved. So when
/// the log has grown long, what is left is moved with the writer's lock held: little, as most has been moved before.
///
/// While a reader pins old pages a checkpoint cannot finish; then the next attempt waits until the log has grown by
/// half, or commits would be slowed by attempts that do nothing.
final class Checkpointer: Sendable {
  /// Frames in the log that are worth a checkpoint: about 4 MB.
  static let framesWanted: UInt32 = 1000

  /// Frames from which on writers wait for the rest to be moved: about 16 MB.
  private static let framesMax: Int32 = 4000

  private struct State {
    var connection: Connection?
    /// The log's length at the last commit.
    var logged: UInt32 = 0
    /// The log has to reach so many frames before the next attempt.
    var threshold = Checkpointer.framesWanted
    var isScheduled = false
    var syncDue: DispatchTime?
    var attempts = 0
    var isClosed = false
  }

  private let path: String
  private let lock: FileWriterLock?
  private let queue = DispatchQueue(label: "vivarium.checkpoint", qos: .utility)
  private let state = Mutex(State())

  init(path: String, lock: FileWriterLock?) {
    self.path = path
    self.lock = lock
  }

  /// How often a checkpoint was tried. For tests.
  var attempts: Int { state.withLock { $0.attempts } }

  /// Call after each commit, with the log's length.
  func committed(logged: UInt32, moved: UInt32) {
    let isDue = state.withLock { state in
      // Shorter than it was: it has begun anew.
      if logged < state.logged { state.threshold = Checkpointer.framesWanted }
      state.logged = logged
      guard !state.isClosed, !state.isScheduled, logged > moved, logged >= state.threshold else { return false }
      state.isScheduled = true
      return true
    }
    if isDue { queue.async { [self] in checkpoint() } }
  }

  /// Sees to it that the log is on the disk no later than that.
  func syncLog(within bound: Duration) {
    let due = DispatchTime.now() + bound.dispatchInterval
    let isNew = state.withLock { state in
      if state.isClosed { return false }
      if let syncDue = state.syncDue, syncDue <= due { return false }
      state.syncDue = due
      return true
    }
    guard isNew else { return }
    queue.asyncAfter(deadline: due) { [self] in
      let isDue = state.withLock { state in
        guard let syncDue = state.syncDue, syncDue <= .now() else { return false }
        state.syncDue = nil
        return true
      }
      // Nobody waits for it: what fails here is tried again by the next commit's sync.
      if isDue { try? LogFile.sync(database: path) }
    }
  }

  /// Waits for what was asked for so far.
  func wait() { queue.sync {} }

  /// Waits for work that is under way, and does no more.
  func close() {
    let isSyncDue = state.withLock { state in
      state.isClosed = true
      defer { state.syncDue = nil }
      return state.syncDue != nil
    }
    queue.sync {
      if isSyncDue { try? LogFile.sync(database: path) }
      state.withLock { $0.connection = nil }
    }
  }

  /// Moves all that can be moved, now; the caller holds the writer's lock.
  func checkpointNow() {
    queue.sync {
      guard let connection = takeConnection() else { return }
      sqlite3_wal_checkpoint_v2(connection.database, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
      state.withLock { $0.connection = $0.isClosed ? nil : connection }
    }
  }

  private func checkpoint() {
    guard let connection = takeConnection() else { return }
    var logged: Int32 = 0
    var moved: Int32 = 0
    var code = sqlite3_wal_checkpoint_v2(connection.database, nil, SQLITE_CHECKPOINT_PASSIVE, &logged, &moved)
    // A reader's pin shows as frames not moved; then holding writers up would help nothing.
    if code == SQLITE_OK, moved == logged, logged >= Checkpointer.framesMax,
      let hold = try? lock?.acquire(.after(.milliseconds(200))) {
      code = sqlite3_wal_checkpoint_v2(connection.database, nil, SQLITE_CHECKPOINT_PASSIVE, &logged, &moved)
      hold.release()
    }
    state.withLock { state in
      state.isScheduled = false
      state.attempts += 1
      let isDone = code == SQLITE_OK && moved >= logged
      let length = UInt32(max(0, logged))
      // Done: the next commit begins the log anew, unless readers still use it as it is.
      state.threshold = (isDone ? length : length + length / 2) + Checkpointer.framesWanted
      state.connection = state.isClosed ? nil : connection
    }
  }

  private func takeConnection() -> Connection? {
    let kept = state.withLock { state -> (Connection?, Bool) in
      defer { state.connection = nil }
      return (state.connection, state.isClosed)
    }
    if let connection = kept.0 { return connection }
    let opened = kept.1 ? nil : try? Connection.ours(path: path, isReadOnly: false)
    if opened == nil { state.withLock { $0.isScheduled = false } }
    return opened
  }
}

extension Duration {
  /// Held within what a dispatch interval can say.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 32 else { return .seconds(1 << 32) }
    return .nanoseconds(max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)))
  }
}
