import CVivariumSQLite
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch
import StorageCoordination
import StorageInterface
import Synchronization

/// Runs checkpoints (moving the log's pages into the main file) and deferred syncs of the log, on its own thread so that no
/// commit waits.
///
/// Commits continue while a checkpoint runs, and SQLite restarts the log only when all of it has been moved and nobody reads
/// from it. So most pages are moved concurrently with commits, and the rest with the writer's lock held. Idle reads, of this
/// process directly and of others by the bell, are asked to release the log (`SQLiteEngine.renewReads`).
///
/// A checkpoint cannot finish while a reader pins old pages, nor begin while one reads the data file without the log. The next attempt
/// then waits until the log has grown: by half of its length once it is long, else by a fixed number of frames. Otherwise futile
/// attempts would slow commits down.
final class Checkpointer: Sendable {
  /// The log length in frames that triggers a checkpoint: about 4 MB.
  static let framesWanted: UInt32 = 1000
  /// The log length in frames from which writers wait for a running checkpoint: about 6 MB.
  static let framesMax: UInt32 = 1500
  /// How long writers are held up, in seconds, for reads to release the log: at first, and once it is long.
  private static let patience: (short: Double, long: Double) = (0.05, 0.25)
  /// When to check again whether a held log is still held, if no commit comes.
  private static let recheck: DispatchTimeInterval = .seconds(2)

  private struct State {
    var connection: Connection?
    /// The log at the last commit.
    var frames = LogFrames()
    /// The log length in frames that triggers the next attempt.
    var threshold = Checkpointer.framesWanted
    /// The frames that the last attempt had moved. If the next one moves no more, somebody reads an old version.
    var moved: Int64 = -1
    /// The last attempt could not restart the log, because somebody reads from it.
    var isHeld = false
    var isScheduled = false
    var isRecheckDue = false
    var syncDue: DispatchTime?
    var attempts = 0
    var isClosed = false
    var ask: (@Sendable () -> Void)?
  }

  /// SQLite's result of a checkpoint.
  private struct Outcome {
    var code: Int32
    var logged: Int32 = 0
    var moved: Int32 = 0
    var isComplete: Bool { code == SQLITE_OK && moved >= logged }
  }

  private let file: StoreFile
  private let lock: FileWriterLock?
  private let queue = DispatchQueue(label: "vivarium.checkpoint", qos: .utility)
  private let state = Mutex(State())
  /// Entered while an attempt is scheduled or running.
  private let attempt = DispatchGroup()

  init(_ file: StoreFile, lock: FileWriterLock?) {
    self.file = file
    self.lock = lock
    queue.setSpecific(key: Checkpointer.isOwn, value: ObjectIdentifier(self))
  }

  /// The number of attempted checkpoints. For tests.
  var attempts: Int { state.withLock { $0.attempts } }

  /// Whether a reader kept the log from restarting at the last attempt.
  var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Sets the function that asks all idle reads to release the log. Called on the checkpointer's thread.
  func askForLog(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.ask = body } }

  /// Call after each commit.
  func committed(_ frames: LogFrames) {
    let isDue = state.withLock { state in
      // A shorter log has restarted.
      if frames.logged < state.frames.logged {
        state.threshold = Checkpointer.framesWanted
        state.moved = -1
        state.isHeld = false
      }
      state.frames = frames
      return frames.logged >= state.threshold
    }
    if isDue { schedule() }
  }

  /// Call when a reader of an old version has ended and the log is long.
  func released() { if lock != nil { schedule() } }

  /// Call before a write, without its lock. Waits for a running attempt while the log is long; otherwise writers that never
  /// pause would outrun it.
  func makeWay(_ deadline: Deadline) {
    let isLong = state.withLock { $0.isScheduled && $0.frames.logged >= Checkpointer.framesMax }
    guard isLong else { return }
    let patience = min(deadline.remaining ?? .seconds(1), .milliseconds(300))
    _ = attempt.wait(timeout: .now() + patience.dispatchInterval)
  }

  private func schedule() {
    let isNew = state.withLock { state in
      guard !state.isClosed, !state.isScheduled else { return false }
      state.isScheduled = true
      return true
    }
    guard isNew else { return }
    attempt.enter()
    queue.async { [self] in
      checkpoint()
      attempt.leave()
    }
  }

  /// Ensures that the log is synced within a bound.
  func syncLog(within bound: Duration) {
    let due = DispatchTime.now() + bound.dispatchInterval
    let isNew = state.withLock { state in
      if state.isClosed { return false }
      if let syncDue = state.syncDue, syncDue <= due { return false }
      state.syncDue = due
      return true
    }
    guard isNew else { return }
    queue.asyncAfter(deadline: due) { [self] in syncIfDue() }
  }

  /// Whether a sync is to come. For tests.
  var isSyncDue: Bool { state.withLock { $0.syncDue != nil } }

  func syncIfDue() {
    let isDue = state.withLock { state in
      guard let syncDue = state.syncDue, syncDue <= .now() else { return false }
      state.syncDue = nil
      return true
    }
    // Nobody waits for this sync. If it fails, it is tried again: perhaps nobody commits any more.
    if isDue, (try? LogFile.sync(database: file.path)) == nil { syncLog(within: .seconds(1)) }
  }

  /// Waits for all work requested so far.
  func wait() { queue.sync {} }

  private static let isOwn = DispatchSpecificKey<ObjectIdentifier>()

  /// Whether the caller runs on this checkpointer's queue, and so must not wait for it.
  var isCaller: Bool { DispatchQueue.getSpecific(key: Checkpointer.isOwn) == ObjectIdentifier(self) }

  /// Stops: waits for running work and accepts no more. Not from its own queue.
  func close() {
    let isSyncDue = state.withLock { state in
      state.isClosed = true
      state.ask = nil
      defer { state.syncDue = nil }
      return state.syncDue != nil
    }
    queue.sync {
      if isSyncDue { try? LogFile.sync(database: file.path) }
      state.withLock { $0.connection = nil }
    }
  }

  /// Moves all frames that can be moved, now, and truncates the log. The caller holds the writer's lock.
  func checkpointNow() {
    queue.sync {
      guard let connection = takeConnection() else { return }
      if isDataFileRead {
        finish(connection, untried, hasBegunAnew: false)
        return
      }
      let outcome = begin(anew: connection, isCut: true, patience: Checkpointer.patience.short)
      finish(connection, outcome, hasBegunAnew: outcome.code == SQLITE_OK)
    }
  }

  private func checkpoint() {
    guard let connection = takeConnection() else { return }
    state.withLock { $0.attempts += 1 }
    if isDataFileRead {
      finish(connection, untried, hasBegunAnew: false)
      return
    }
    var outcome = run(connection, SQLITE_CHECKPOINT_PASSIVE)
    // No progress since the last attempt: somebody reads an old version, and holding writers up would not help.
    let isStuck = state.withLock { !outcome.isComplete && Int64(outcome.moved) <= $0.moved }
    var hasBegunAnew = false
    if outcome.code == SQLITE_OK, !isStuck, let hold = try? lock?.acquire(.after(.milliseconds(200))) {
      let isLong = outcome.logged >= Int32(Checkpointer.framesMax)
      outcome = begin(
        anew: connection, isCut: Int(outcome.logged) * 4096 > Connection.logBytesMax,
        patience: isLong ? Checkpointer.patience.long : Checkpointer.patience.short)
      hasBegunAnew = outcome.code == SQLITE_OK
      hold.release()
    }
    finish(connection, outcome, hasBegunAnew: hasBegunAnew)
  }

  /// Whether a process reads the data file without the log: then nothing is moved.
  private var isDataFileRead: Bool { StorePresence.isDataFileRead(path: file.coordinationPath) }

  /// The outcome of an attempt that moves nothing.
  private var untried: Outcome { Outcome(code: SQLITE_BUSY, logged: Int32(clamping: state.withLock { $0.frames.logged })) }

  /// Records the outcome and decides when to try again.
  private func finish(_ connection: Connection, _ outcome: Outcome, hasBegunAnew: Bool) {
    let isRecheckNew = state.withLock { state in
      state.isScheduled = false
      state.connection = state.isClosed ? nil : connection
      state.isHeld = !hasBegunAnew && outcome.logged >= Int32(Checkpointer.framesWanted)
      state.moved = hasBegunAnew ? -1 : max(state.moved, Int64(outcome.moved))
      let length = UInt32(clamping: max(outcome.logged, 0))
      if hasBegunAnew {
        state.threshold = Checkpointer.framesWanted
        // The next commit restarts the log; until then the file keeps its length.
        state.frames = LogFrames()
      } else {
        let more = length < 2 * Checkpointer.framesWanted ? Checkpointer.framesWanted / 4 : max(Checkpointer.framesWanted, length / 2)
        state.threshold = UInt32(clamping: UInt64(length) + UInt64(more))
      }
      guard state.isHeld, !state.isClosed, !state.isRecheckDue else { return false }
      state.isRecheckDue = true
      return true
    }
    guard isRecheckNew else { return }
    queue.asyncAfter(deadline: .now() + Checkpointer.recheck) { [weak self] in
      let isHeld = self?.state.withLock { state in
        state.isRecheckDue = false
        return state.isHeld
      }
      if isHeld == true { self?.schedule() }
    }
  }

  private func run(_ connection: Connection, _ mode: Int32) -> Outcome {
    var outcome = Outcome(code: 0)
    outcome.code = sqlite3_wal_checkpoint_v2(connection.database, nil, mode, &outcome.logged, &outcome.moved)
    return outcome
  }

  private func takeConnection() -> Connection? {
    let kept = state.withLock { state -> (Connection?, Bool) in
      defer { state.connection = nil }
      return (state.connection, state.isClosed)
    }
    if let connection = kept.0 { return connection }
    let opened = kept.1 ? nil : try? Connection.ours(file, isReadOnly: false)
    if opened == nil { state.withLock { $0.isScheduled = false } }
    return opened
  }
}

extension Checkpointer {
  /// Moves the remaining frames and waits, at most `patience` seconds, until nobody reads from the log, so that the next commit
  /// restarts it. Requires the writer's lock. `isCut`: also truncates the log.
  private func begin(anew connection: Connection, isCut: Bool, patience: Double) -> Outcome {
    let wait = ReaderWait(until: .now() + patience) { [self] in
      let (ask, isClosed) = state.withLock { ($0.ask, $0.isClosed) }
      if !isClosed { ask?() }
      return !isClosed
    }
    // Safe: `wait` outlives the handler, which is removed below and runs on this thread.
    sqlite3_busy_handler(
      connection.database, { context, _ in
        guard let context else { return 0 }
        return Unmanaged<ReaderWait>.fromOpaque(context).takeUnretainedValue().goOn() ? 1 : 0
      }, Unmanaged.passUnretained(wait).toOpaque())
    defer {
      withExtendedLifetime(wait) {}
      sqlite3_busy_timeout(connection.database, Connection.patienceMilliseconds)
    }
    return run(connection, isCut ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART)
  }
}

/// Waits for readers to release the log, asking them repeatedly.
private final class ReaderWait {
  private let end: DispatchTime
  private let ask: () -> Bool
  private var microseconds: UInt32 = 100

  init(until end: DispatchTime, _ ask: @escaping () -> Bool) {
    self.end = end
    self.ask = ask
  }

  func goOn() -> Bool {
    guard DispatchTime.now() < end, ask() else { return false }
    usleep(microseconds)
    microseconds = min(microseconds * 2, 5000)
    return true
  }
}

extension Duration {
  /// The duration, clamped to the range of a dispatch interval.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 32 else { return .seconds(1 << 32) }
    return .nanoseconds(max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)))
  }
}
