import CLMDB
import Coordination
import Dispatch
import Storage
import Synchronization

/// Keeps the promise that a crash of the system never tears a store, also for commits that are not synced.
///
/// The system may write the pages of such commits in any order. So before the first of them everything is synced,
/// the meta page of this moment goes to the side file, and a read transaction keeps LMDB from using its pages
/// again. After a crash the store is put back to that point. Every process that commits holds such a
/// transaction of its own, at or before the point; so nobody depends on another process's life. While commits
/// go on the point is moved forward in the background, which is also how grouped commits are synced.
///
/// Commits that are synced need none of this; the first of them after others ends it.
final class SafePoints: Sendable {
  private struct State {
    var pin: Pin?
    /// Commits that the newest point of this process does not cover.
    var unsynced = 0
    var unsyncedBytes = 0
    /// When the background will move the point.
    var due: DispatchTime?
    var file: SafePointFile?
  }

  /// A read transaction that only holds its version.
  private struct Pin: Sendable {
    /// Safe to hand over: without thread-local readers any one thread at a time may use it.
    nonisolated(unsafe) let transaction: OpaquePointer
    var number: UInt64 { UInt64(mdb_txn_id(transaction)) }
  }

  /// What may be lost at most, in time and in bytes that cannot be used again meanwhile.
  private static let refreshAfter: Duration = .seconds(1)
  private static let refreshBytes = 64 << 20
  private static let queue = DispatchQueue(label: "vivarium.lmdb.sync", qos: .utility)

  private let state = Mutex(State())
  /// Held while the point is moved: two at once would count the same commits twice.
  private let moving = Mutex(())

  /// The transaction that only holds the point, for the list of readers.
  var pinned: UInt64? { state.withLock { $0.pin?.number } }

  /// Before a commit, by the holder of the writer's lock.
  func prepare(_ environment: LMDBEnvironment, _ durability: Durability, bytes: Int) throws(StorageError) {
    let isSynced = durability == .full
    let isReady = try state.withLock { state throws(StorageError) in
      if state.file == nil {
        state.file = try SafePointFile(files: environment.files, creates: !isSynced, mode: LMDBEnvironment.mode)
      }
      guard let file = state.file else { return true }
      let isArmed = file.newest().map { $0.isArmed && $0.system == .current } ?? false
      if isSynced {
        if !isArmed, let pin = state.pin {
          mdb_txn_abort(pin.transaction)
          state.pin = nil
        }
        return !isArmed
      }
      state.unsynced += 1
      state.unsyncedBytes += bytes
      return isArmed && state.pin != nil
    }
    if isReady { return }
    try sync(environment)
    let file = try requireFile()
    if isSynced {
      try file.update { newest in
        newest.map {
          var point = $0
          point.isArmed = false
          return point
        }
      }
      release()
    } else {
      let point = try SafePoint(newestOf: environment.files)
      let pin = try makePin(environment)
      do throws(StorageError) {
        try file.update { _ in point }
      } catch {
        mdb_txn_abort(pin.transaction)
        throw error
      }
      // All but the commit that is about to happen.
      replace(with: pin) { (count, total) in (count - 1, total - bytes) }
    }
  }

  /// After a commit that was not synced: sees to it that the point follows, within the bound of a grouped one.
  func follow(_ environment: LMDBEnvironment, _ durability: Durability) {
    var wait = SafePoints.refreshAfter
    // The work itself takes time, so it starts at half the bound.
    if case .grouped(let bound) = durability { wait = min(wait, max(bound / 2, .zero)) }
    let time = state.withLock { state -> DispatchTime? in
      if state.unsyncedBytes > SafePoints.refreshBytes { wait = .zero }
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

  /// For tests: from here on the background never gets a turn.
  func pauseBackground() { state.withLock { $0.due = DispatchTime(uptimeNanoseconds: 1) } }

  /// Moves the point to the newest version, and lets go of the old one. In the background or at the end; fails
  /// silently, because the old point is as good as before and the next refresh tries again.
  func refresh(_ environment: LMDBEnvironment, due: DispatchTime? = nil) {
    state.withLock { if due == nil || $0.due == due { $0.due = nil } }
    try? move(environment, .after(.seconds(2)))
  }

  /// Moves the point to the newest version: everything committed before is on the disk when this returns. Nothing
  /// where all is already.
  func move(_ environment: LMDBEnvironment, _ deadline: Deadline) throws(StorageError) {
    try moving.withLock { _ throws(StorageError) in try moveAlone(environment, deadline) }
  }

  private func moveAlone(_ environment: LMDBEnvironment, _ deadline: Deadline) throws(StorageError) {
    guard state.withLock({ $0.unsynced > 0 }), let lock = environment.writerLock else { return }
    let file = try requireFile()
    let hold = try lock.acquire(deadline)
    let before = state.withLock { state in (state.unsynced, state.unsyncedBytes) }
    let made = Result { () throws(StorageError) in
      let point = try SafePoint(newestOf: environment.files)
      return (point, try makePin(environment))
    }
    hold.release()
    let (point, pin) = try made.get()
    do throws(StorageError) {
      try sync(environment)
      try file.update { newest in
        guard let newest, newest.isArmed, newest.transaction < point.transaction else { return nil }
        return point
      }
    } catch {
      mdb_txn_abort(pin.transaction)
      throw error
    }
    replace(with: pin) { (_, _) in before }
  }

  /// Ends the pin. The environment is about to be closed.
  func release() {
    state.withLock { state in
      if let pin = state.pin { mdb_txn_abort(pin.transaction) }
      state.pin = nil
      state.unsynced = 0
      state.unsyncedBytes = 0
    }
  }

  // MARK: Private

  /// The new pin takes the place of the old one, which is ended after; without unsynced commits none is needed.
  /// `covered` says how many commits, of how many bytes, the point covers now.
  private func replace(with pin: Pin, _ covered: (Int, Int) -> (Int, Int)) {
    state.withLock { state in
      let (count, bytes) = covered(state.unsynced, state.unsyncedBytes)
      // A synced commit in between has set both to nothing.
      state.unsynced = max(0, state.unsynced - count)
      state.unsyncedBytes = max(0, state.unsyncedBytes - bytes)
      if let old = state.pin { mdb_txn_abort(old.transaction) }
      state.pin = state.unsynced > 0 ? pin : nil
      if state.pin == nil { mdb_txn_abort(pin.transaction) }
    }
  }

  private func requireFile() throws(StorageError) -> SafePointFile {
    if let file = state.withLock({ $0.file }) { return file }
    throw StorageError(.misuse, .transaction, "There is no file of safe points.")
  }

  private func sync(_ environment: LMDBEnvironment) throws(StorageError) {
    let code = mdb_env_sync(environment.pointer, 1)
    if code != 0 { throw .lmdb(code, .transaction, doing: "sync", path: environment.files.data) }
  }

  private func makePin(_ environment: LMDBEnvironment) throws(StorageError) -> Pin {
    var transaction: OpaquePointer?
    let code = mdb_txn_begin(environment.pointer, nil, UInt32(MDB_RDONLY), &transaction)
    guard code == 0, let transaction else {
      throw .lmdb(code, .transaction, doing: "hold a version of", path: environment.files.data)
    }
    return Pin(transaction: transaction)
  }
}

extension Duration {
  /// Nanoseconds, held within ten years.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return min(max(seconds, 0), 315_360_000) * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
