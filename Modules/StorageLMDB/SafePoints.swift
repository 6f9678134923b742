import CVivariumLMDB
import Dispatch
#if canImport(Darwin)
import Darwin
#endif
import StorageCoordination
import StorageInterface
import Synchronization

/// Guarantees that a system crash never tears a store, even with commits that are not synced.
///
/// The system may write the pages of such commits in any order. So before the first of them everything is synced, the current
/// meta page is saved in the side file, and a read transaction keeps LMDB from reusing its pages. After a crash the store is
/// restored to that point. Every committing process holds such a transaction of its own, at or before the point, so none
/// depends on another process's life. While commits continue, the point is advanced in the background, which is also how
/// grouped commits are synced.
///
/// Synced commits need none of this; the first of them after unsynced ones ends it. But where small ones come one after the other, they are
/// not synced either: they are in the journal, from which they are made again after a crash (`SafePoints+Journal`).
final class SafePoints: Sendable {
  struct State {
    var pin: Pin?
    /// The number of this process's commits that the newest point does not cover.
    var unsynced = 0
    var unsyncedBytes = 0
    /// When the background task will advance the point.
    var due: DispatchTime?
    var file: SafePointFile?
    /// The transactions of all pins: more than one while the point is advanced.
    var pins: [UInt64] = []
    /// Incremented whenever the point begins or ends, which invalidates the counts of a concurrent advance.
    var generation = 0
    /// Whether somebody has asked for a journal.
    var keepsJournal = false
    /// How many small durable commits came in a row.
    var smallCommits = 0
    /// The journal's run, and the place behind the last record that this process knows.
    var end: (run: UInt64, place: CommitJournal.Place)?
    /// The disk has refused to sync pages of commits that are in the journal: it may have lost them. Nothing is written until the file was
    /// put back to its point and they are made again.
    var hasFailed = false
    /// The background is at it.
    var isMoving = false
  }

  /// A read transaction that only holds its version.
  struct Pin: Sendable {
    /// Safe to hand over: without thread-local readers any one thread at a time may use it.
    nonisolated(unsafe) let transaction: OpaquePointer
    let view: LMDBView
    var number: UInt64 { UInt64(mdb_txn_id(transaction)) }
  }

  /// Limits for potential loss, in time, and in bytes of pages that cannot be reused meanwhile.
  static let refreshAfter: Duration = .seconds(1)
  static let refreshBytes = 64 << 20
  static let queue = DispatchQueue(label: "vivarium.lmdb.sync", qos: .utility)

  let state = Mutex(State())
  /// Held while the point is advanced: two advances at once would count the same commits twice.
  let moving = Mutex(())

  /// The result of `table` without the lines of this process's pins. Pins neither begin nor end during the call.
  func withoutPins(of process: Int32, _ table: () -> [LMDBStore.Reader]) -> [LMDBStore.Reader] {
    state.withLock { state in
      var readers = table()
      for number in state.pins {
        let line = LMDBStore.Reader(process: process, transaction: number)
        if let own = readers.firstIndex(of: line) { readers.remove(at: own) }
      }
      return readers
    }
  }

  /// The transaction that holds the point.
  var pinned: UInt64? { state.withLock { $0.pin?.number } }

  /// Call before a commit that is not in the journal, as the holder of the writer's lock.
  func prepare(_ environment: LMDBEnvironment, _ durability: Durability, bytes: Int) throws(StorageError) {
    let isSynced = durability == .full
    if !isSynced { noteUnsynced() }
    let isReady = try state.withLock { state throws(StorageError) in
      // Removed or replaced: the point is written again to the path where recovery would look for it.
      if state.file?.isInPlace == false { state.file = nil }
      if state.file == nil {
        state.file = try SafePointFile(files: environment.files, creates: !isSynced, mode: environment.files.sideMode)
      }
      // Without the file a synced commit must leave nothing unsynced behind.
      guard let file = state.file else { return state.pin == nil }
      // Read once: every relaxed commit comes here.
      let newest = state.hasFailed ? nil : try file.newest()
      try SafePoints.checkFailed(state, environment, newest: newest)
      let isArmed = newest.map { $0.isArmed && $0.system == .current } ?? false
      if isSynced {
        // Another process has synced everything and disarmed the point.
        if !isArmed, state.pin != nil { SafePoints.release(&state) }
        return !isArmed
      }
      state.unsynced += 1
      state.unsyncedBytes += bytes
      return isArmed && state.pin != nil
    }
    if isReady { return }
    try sync(environment)
    if !isSynced { return try begin(environment, try requireFile(), bytes: bytes) { _ in } }
    if let file = state.withLock({ $0.file }) { try SafePoints.disarm(file) }
    release()
  }

  /// Writes a point for the newest version, of which everything is synced, and holds it. The upcoming commit is counted already.
  func begin(
    _ environment: LMDBEnvironment, _ file: SafePointFile, bytes: Int, _ completing: (inout SafePoint) -> Void
  ) throws(StorageError) {
    let pin = try makePin(environment)
    do throws(StorageError) {
      var point = try SafePoint(newestOf: environment.files, pin.view)
      completing(&point)
      var hasFailed = false
      try file.update { [point] newest in
        hasFailed = newest?.isLeftOver == true
        return hasFailed ? nil : point
      }
      if hasFailed { try state.withLock { state throws(StorageError) in try SafePoints.checkFailed(state, environment) } }
    } catch {
      state.withLock { SafePoints.end(pin, &$0) }
      throw error
    }
    // All but the upcoming commit.
    state.withLock { state in
      state.generation += 1
      let covered = (state.unsynced - 1, state.unsyncedBytes - bytes)
      SafePoints.replace(&state, with: pin, covered: covered)
    }
  }

  static func disarm(_ file: SafePointFile) throws(StorageError) {
    try file.update { newest in
      guard var point = newest, point.isArmed else { return nil }
      point.isArmed = false
      point.run = 0
      return point
    }
  }

  /// Ends the pin when it is no longer needed.
  func release() { state.withLock { SafePoints.release(&$0) } }

  // MARK: Private

  private static func release(_ state: inout State) {
    if let pin = state.pin { end(pin, &state) }
    state.pin = nil
    state.unsynced = 0
    state.unsyncedBytes = 0
    state.end = nil
    state.generation += 1
  }

  /// Replaces the old pin by the new one and ends the old; without unsynced commits no pin is needed. `covered` is how many
  /// commits, of how many bytes, the point covers now.
  static func replace(_ state: inout State, with pin: Pin, covered: (count: Int, bytes: Int)) {
    state.unsynced = max(0, state.unsynced - covered.count)
    state.unsyncedBytes = max(0, state.unsyncedBytes - covered.bytes)
    if let old = state.pin { end(old, &state) }
    state.pin = state.unsynced > 0 ? pin : nil
    if state.pin == nil { end(pin, &state) }
  }

  static func end(_ pin: Pin, _ state: inout State) {
    if let position = state.pins.firstIndex(of: pin.number) { state.pins.remove(at: position) }
    mdb_txn_abort(pin.transaction)
  }

  func requireFile() throws(StorageError) -> SafePointFile {
    if let file = state.withLock({ $0.file }) { return file }
    throw StorageError(.misuse, .transaction, "There is no file of safe points.")
  }

  func sync(_ environment: LMDBEnvironment) throws(StorageError) {
    let code = mdb_env_sync(environment.pointer, 1)
    if code == 0 { return try syncWholly(environment) }
    try fail(environment)
    throw .lmdb(code, .transaction, doing: "sync", path: environment.files.data)
  }

  /// On Apple systems LMDB's sync does not wait for the drive.
  private func syncWholly(_ environment: LMDBEnvironment) throws(StorageError) {
    #if canImport(Darwin)
    var file: Int32 = -1
    guard mdb_env_get_fd(environment.pointer, &file) == 0, SafePointFile.sync(file) == 0 else {
      throw .system(errno, .transaction, doing: "sync", path: environment.files.data)
    }
    #endif
  }

  func makePin(_ environment: LMDBEnvironment) throws(StorageError) -> Pin {
    try state.withLock { state throws(StorageError) in
      let transaction = try environment.beginNew(.transaction)
      do throws(StorageError) {
        guard let view = try environment.pages.view(of: transaction) else {
          throw StorageError(
            .io, .transaction, "'\(environment.files.data)' was written by another program meanwhile.", remedy: "Try again.")
        }
        let pin = Pin(transaction: transaction, view: view)
        state.pins.append(pin.number)
        return pin
      } catch {
        mdb_txn_abort(transaction)
        throw error
      }
    }
  }
}
