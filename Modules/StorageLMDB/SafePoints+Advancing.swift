import CVivariumLMDB
import Dispatch
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import Synchronization

// The point follows the commits, in the background and at the end.

extension SafePoints {
  /// Call after an unsynced commit, also one that failed: it has a point, too. Schedules the point's advance, within the bound of a
  /// grouped commit.
  func follow(_ environment: LMDBEnvironment, _ durability: Durability) {
    var wait = SafePoints.refreshAfter
    if state.withLock({ $0.unsyncedBytes > SafePoints.refreshBytes }) { wait = .zero }
    // The work itself takes time, so it starts at half the bound.
    if case .grouped(let bound) = durability { wait = min(wait, max(bound / 2, .zero)) }
    schedule(environment, after: wait)
  }

  func schedule(_ environment: LMDBEnvironment, after wait: Duration) {
    let time = state.withLock { state -> DispatchTime? in
      let time = DispatchTime.now() + .nanoseconds(Int(clamping: wait.nanoseconds))
      if let due = state.due, due <= time { return nil }
      state.due = time
      return time
    }
    guard let time else { return }
    SafePoints.queue.asyncAfter(deadline: time) { [weak environment] in
      guard let environment, !environment.mark.isStale else { return }
      environment.safePoints.refresh(environment, due: time)
    }
  }

  /// For tests: stops the background task from running.
  func pauseBackground() { state.withLock { $0.due = DispatchTime(uptimeNanoseconds: 1) } }

  /// Waits for running work of the background, which holds its environment open meanwhile.
  static func waitForBackground() { queue.sync {} }

  /// Advances the point to the newest version, and releases the old one. In the background or at the end; fails silently,
  /// because the old point remains valid. In the background it is tried again, whoever wrote meanwhile: perhaps nobody commits any more.
  func refresh(_ environment: LMDBEnvironment, due: DispatchTime? = nil) {
    state.withLock { if due == nil || $0.due == due { $0.due = nil } }
    do throws(StorageError) { try move(environment, .after(.seconds(2))) } catch {
      if due != nil { schedule(environment, after: SafePoints.refreshAfter) }
    }
  }

  /// Advances the point to the newest version: everything committed before is synced when this returns. Does nothing if it
  /// already is. Writers continue while the disk works; `meanwhile` runs in that time, for tests.
  func move(
    _ environment: LMDBEnvironment, _ deadline: Deadline, meanwhile: () throws(StorageError) -> Void = {}
  ) throws(StorageError) {
    try moving.withLock { _ throws(StorageError) in try moveAlone(environment, deadline, meanwhile) }
  }

  private func moveAlone(
    _ environment: LMDBEnvironment, _ deadline: Deadline, _ meanwhile: () throws(StorageError) -> Void
  ) throws(StorageError) {
    guard state.withLock({ $0.unsynced > 0 }), environment.writerLock != nil else { return }
    let file = try requireFile()
    // A descriptor of its own: of two that share one, an error of the disk is told to one alone.
    let data = open(environment.files.data, O_RDWR | O_CLOEXEC)
    guard data >= 0 else { throw LMDBFiles.openError(errno, environment.files.data) }
    defer { close(data) }
    guard let hold = try environment.acquireWriter(deadline) else { return }
    state.withLock { $0.isMoving = true }
    defer { state.withLock { $0.isMoving = false } }
    let (generation, count, bytes) = state.withLock { ($0.generation, $0.unsynced, $0.unsyncedBytes) }
    let made = Result { () throws(StorageError) -> (SafePoint, Pin) in
      let pin = try makePin(environment)
      do throws(StorageError) {
        var point = try SafePoint(newestOf: environment.files, pin.view)
        try follow(try file.newest(), &point, file)
        return (point, pin)
      } catch {
        state.withLock { SafePoints.end(pin, &$0) }
        throw error
      }
    }
    hold.release()
    let (point, pin) = try made.get()
    do throws(StorageError) {
      guard FileIdentity(descriptor: data) == FileIdentity(path: environment.files.data) else { throw .replaced(environment.files.data) }
      if SafePointFile.sync(data) != 0 {
        let number = errno
        try fail(environment)
        throw .system(number, .transaction, doing: "sync", path: environment.files.data)
      }
      try meanwhile()
      try file.update { newest in
        // A journal that began meanwhile begins at a later version.
        guard let newest, newest.isArmed, !newest.isLeftOver, newest.transaction < point.transaction,
          point.run == 0 || point.run == newest.run
        else { return nil }
        return point
      }
    } catch {
      state.withLock { SafePoints.end(pin, &$0) }
      throw error
    }
    state.withLock { state in
      // A synced commit in between has ended the point, and there may be a new one, with commits of its own.
      if state.generation == generation {
        SafePoints.replace(&state, with: pin, covered: (count, bytes))
      } else {
        SafePoints.end(pin, &state)
      }
    }
  }

  /// Call before the environment is closed: syncs all commits, of any process, and disarms the point, so that it does not apply
  /// to a file put in this one's place. If this fails, or takes too long because somebody writes, the point stays as it is, as
  /// after a crash of this process.
  func finish(_ environment: LMDBEnvironment) {
    defer { release() }
    let known = state.withLock { $0.file }
    let opened = try? known ?? SafePointFile(files: environment.files, creates: false, mode: environment.files.sideMode)
    guard environment.writerLock != nil, !state.withLock({ $0.hasFailed }), let file = opened, let newest = try? file.newest(),
      newest.isArmed || file.hasJournal, !newest.isLeftOver, let hold = try? environment.acquireWriter(.after(.seconds(2)))
    else { return }
    defer { hold.release() }
    do throws(StorageError) {
      // Somebody may have begun a point meanwhile.
      if try file.newest()?.isArmed == true {
        try sync(environment)
        try SafePoints.disarm(file)
      }
      file.truncate()
    } catch {
      // As above.
    }
  }
}

extension Duration {
  /// Nanoseconds, clamped to ten years.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return min(max(seconds, 0), 315_360_000) * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
