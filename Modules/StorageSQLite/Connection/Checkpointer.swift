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

/// Moves the log's pages into the main file, and syncs the log for commits that were promised it: on a thread of its
/// own, so that no commit waits.
///
/// Commits go on while a checkpoint runs, and SQLite begins the log anew only when all of it has been moved and nobody reads
/// from it any more. So most is moved beside the commits, and then, with the writer's lock held, the little that is left; and the
/// reads that rest, of this process and by the bell of all, are asked to let go of the log (`SQLiteEngine.renewReads`).
///
/// While a reader pins old pages a checkpoint cannot finish; then the next attempt waits until the log has grown by
/// half, or commits would be slowed by attempts that do nothing.
final class Checkpointer: Sendable {
  /// Frames in the log that are worth a checkpoint: about 4 MB.
  static let framesWanted: UInt32 = 1000
  /// Frames from which on writers wait for a checkpoint that is under way: about 6 MB.
  static let framesMax: UInt32 = 1500
  /// How long writers are held up for reads that are to let go of the log: at first, and once it is long.
  private static let patience: (short: Double, long: Double) = (0.05, 0.25)
  /// When to look again whether a log is held that was, where no commit comes.
  private static let recheck: DispatchTimeInterval = .seconds(2)

  private struct State {
    var connection: Connection?
    /// The log at the last commit.
    var frames = LogFrames()
    /// The log has to reach so many frames before the next attempt.
    var threshold = Checkpointer.framesWanted
    /// Frames that the last attempt had moved: without more, somebody reads an old version.
    var moved: Int64 = -1
    /// The last attempt could not let the log begin anew, because somebody reads from it.
    var isHeld = false
    var isScheduled = false
    var isRecheckDue = false
    var syncDue: DispatchTime?
    var attempts = 0
    var isClosed = false
    var ask: (@Sendable () -> Void)?
  }

  /// What SQLite said of a checkpoint.
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
  /// Entered while an attempt is scheduled or under way.
  private let attempt = DispatchGroup()

  init(_ file: StoreFile, lock: FileWriterLock?) {
    self.file = file
    self.lock = lock
    queue.setSpecific(key: Checkpointer.isOwn, value: ObjectIdentifier(self))
  }

  /// How often a checkpoint was tried. For tests.
  var attempts: Int { state.withLock { $0.attempts } }

  /// Whether somebody kept the log from beginning anew when it was last tried.
  var isHeld: Bool { state.withLock { $0.isHeld } }

  /// `body` asks everybody whose reads rest to let go of the log. Called on the checkpointer's thread.
  func askForLog(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.ask = body } }

  /// Call after each commit.
  func committed(_ frames: LogFrames) {
    let isDue = state.withLock { state in
      // Shorter than it was: it has begun anew.
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

  /// Call before a write, without its lock: waits for an attempt that is under way while the log is long, or writers that never
  /// rest would outrun it.
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
      if isDue { try? LogFile.sync(database: file.path) }
    }
  }

  /// Waits for what was asked for so far.
  func wait() { queue.sync {} }

  private static let isOwn = DispatchSpecificKey<ObjectIdentifier>()

  /// Whether the caller runs on this one's queue, and must not wait for it.
  var isCaller: Bool { DispatchQueue.getSpecific(key: Checkpointer.isOwn) == ObjectIdentifier(self) }

  /// Waits for work that is under way, and does no more. Not from its own queue.
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

  /// Moves all that can be moved, now, and cuts the log; the caller holds the writer's lock.
  func checkpointNow() {
    queue.sync {
      guard let connection = takeConnection() else { return }
      let outcome = begin(anew: connection, isCut: true, patience: Checkpointer.patience.short)
      finish(connection, outcome, hasBegunAnew: outcome.code == SQLITE_OK)
    }
  }

  private func checkpoint() {
    guard let connection = takeConnection() else { return }
    state.withLock { $0.attempts += 1 }
    var outcome = run(connection, SQLITE_CHECKPOINT_PASSIVE)
    // No further than the last time: somebody reads an old version, and holding writers up would help nothing.
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

  /// Notes how it went, and when to try again.
  private func finish(_ connection: Connection, _ outcome: Outcome, hasBegunAnew: Bool) {
    let isRecheckNew = state.withLock { state in
      state.isScheduled = false
      state.connection = state.isClosed ? nil : connection
      state.isHeld = !hasBegunAnew && outcome.logged >= Int32(Checkpointer.framesWanted)
      state.moved = hasBegunAnew ? -1 : max(state.moved, Int64(outcome.moved))
      let length = UInt32(clamping: max(outcome.logged, 0))
      if hasBegunAnew {
        state.threshold = Checkpointer.framesWanted
        // The next commit begins it: until then it is as long as it was.
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
  /// Moves what is left and waits, no longer than `patience`, until nobody reads from the log, so that the next commit begins it
  /// anew. With the writer's lock held. `isCut`: its space is given back as well.
  private func begin(anew connection: Connection, isCut: Bool, patience: Double) -> Outcome {
    let wait = ReaderWait(until: .now() + patience) { [self] in
      let (ask, isClosed) = state.withLock { ($0.ask, $0.isClosed) }
      if !isClosed { ask?() }
      return !isClosed
    }
    // Safe: `wait` outlives the handler, which is taken away below and runs on this thread.
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

/// Waits for readers to let go of the log, asking them again and again.
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
  /// Held within what a dispatch interval can say.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 32 else { return .seconds(1 << 32) }
    return .nanoseconds(max(0, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)))
  }
}
