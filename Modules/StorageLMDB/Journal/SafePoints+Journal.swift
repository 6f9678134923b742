import CVivariumLMDB
import StorageInterface
import StoreValues
import Synchronization

// Durable commits that are in the journal, and reach the file in the background.

extension SafePoints {
  /// Where a commit's record goes.
  struct JournalPlan {
    let journal: CommitJournal
    /// The place behind the last record.
    let end: CommitJournal.Place
    /// Where the first needed record is.
    let first: Int
  }

  /// Larger commits are synced: their pages would wait for the disk anyhow. So are those that rewrite much of a small file, because it
  /// would grow: nothing that they replace can be used again before the point is advanced.
  private static let bytesMax = 64 << 10...4 << 20
  /// So many small durable commits are synced first: a point costs more than one of them.
  private static let commitsBefore = 8
  /// The point is advanced when so many commits, or bytes, are not in the file for good, because none of the pages that they left can be
  /// used again until then.
  private static let commitsUnsyncedMax = 64
  private static let bytesUnsyncedMax = 256 << 10...4 << 20

  /// From now on small durable commits may be in the journal.
  func keepJournal() { state.withLock { $0.keepsJournal = true } }

  /// The place of a durable commit in the journal; nil if it has to be synced instead. Call before the commit, as the holder of the
  /// writer's lock. `base`: the newest version.
  func journal(_ environment: LMDBEnvironment, bytes: Int, base: Version) throws(StorageError) -> JournalPlan? {
    let isSmall = bytes <= SafePoints.bytesMax.nearest(environment.usedBytes / 8)
    let isOneOfMany = state.withLock { state in
      state.smallCommits = isSmall ? state.smallCommits + 1 : 0
      return state.keepsJournal && state.smallCommits > SafePoints.commitsBefore
    }
    // Without the number of the system's run nothing would be put back.
    guard isOneOfMany, SystemStart.current.isKnown, base > Version(0) else { return nil }
    // A full disk, or no right to make the file: synced commits need neither.
    guard let file = try? openedFile(environment) else { return nil }
    // Counted first: otherwise the background, which has just seen to all others, might let go of the point.
    try state.withLock { state throws(StorageError) in
      try SafePoints.checkFailed(state, environment)
      state.unsynced += 1
      state.unsyncedBytes += bytes
    }
    var plan: JournalPlan?
    var failure: StorageError?
    do throws(StorageError) {
      plan = try known(environment, file, base)
      if plan == nil { plan = try begun(environment, file, bytes: bytes, base) }
    } catch {
      failure = error
    }
    guard plan == nil else { return plan }
    try state.withLock { state throws(StorageError) in
      state.unsynced -= 1
      state.unsyncedBytes -= bytes
      try SafePoints.checkFailed(state, environment)
    }
    if let failure, failure.code == .corrupt { throw failure }
    return nil
  }

  /// Call after the record was written, and before the next commit.
  func didAppend(_ run: UInt64, _ place: CommitJournal.Place) { state.withLock { $0.end = (run, place) } }

  /// A commit that is not in the journal interrupts the row.
  func noteUnsynced() { state.withLock { $0.smallCommits = 0 } }

  /// Call after a commit in the journal, also one that failed. Schedules the point's advance.
  func followJournal(_ environment: LMDBEnvironment, used: Int) {
    let most = SafePoints.bytesUnsyncedMax.nearest(environment.usedBytes / 4)
    let isDue = state.withLock { state in
      // One that runs already will see to most of them.
      !state.isMoving
        && (state.unsynced > SafePoints.commitsUnsyncedMax || state.unsyncedBytes > most
          || used > CommitJournal.capacity / 2)
    }
    schedule(environment, after: isDue ? .zero : SafePoints.refreshAfter)
  }

  /// Call where a commit has a plan and cannot be in the journal, before it comes about: it is synced, and without the point alone it is
  /// there after a crash.
  func leaveJournal(_ environment: LMDBEnvironment, bytes: Int) throws(StorageError) {
    noteUnsynced()
    try prepare(environment, .full, bytes: bytes)
  }

  /// Lets a point that is about to be written lead on by the journal of the newest one, if that has all commits up to it.
  func follow(_ newest: SafePoint?, _ point: inout SafePoint, _ file: SafePointFile) throws(StorageError) {
    guard let newest, newest.isArmed, let place = try end(newest, file, at: point.version)?.place else { return }
    (point.run, point.journalOffset) = (newest.run, UInt64(place.offset))
  }

  /// Makes void what a killed process left in the journal for a commit that did not come about: the next one may be in no record, and then
  /// another process would take that one for its. Call with the right to write, before anybody commits.
  func voidLost(_ environment: LMDBEnvironment) throws(StorageError) {
    guard let file = try SafePointFile(files: environment.files, creates: false, mode: environment.files.sideMode),
      let newest = try file.newest(), newest.isArmed, newest.run != 0
    else { return }
    let version = try environment.latestVersion().rawValue
    guard let (journal, place, _) = try end(newest, file, at: version) else { return }
    try journal.voidRecords(after: place)
  }

  // MARK: Failing disks

  /// Throws if pages of commits in the journal may be lost.
  static func checkFailed(_ state: State, _ environment: LMDBEnvironment) throws(StorageError) {
    try checkFailed(state, environment, newest: state.hasFailed ? nil : state.file?.newest())
  }

  /// The same by the file's newest point, if the caller has read it.
  static func checkFailed(_ state: State, _ environment: LMDBEnvironment, newest: SafePoint?) throws(StorageError) {
    guard state.hasFailed || newest?.isLeftOver == true else { return }
    throw StorageError(
      .io, .engine, "The disk did not take in all pages of '\(environment.files.data)'.",
      remedy: "Close the store everywhere and open it again: it goes back to its last safe version, and the commits since are made again.")
  }

  /// After a sync that failed. The system may have dropped pages that it could not write, and says so once only; so where there are commits
  /// that are not synced, whoever opens the file next puts it back, as after a crash.
  func fail(_ environment: LMDBEnvironment) throws(StorageError) {
    guard let file = state.withLock({ $0.file }) else { return }
    var isArmed = true
    do throws(StorageError) { isArmed = try file.newest()?.isArmed ?? false } catch {
      // The disk says nothing about the point either: there may be one.
    }
    guard isArmed else { return }
    state.withLock { $0.hasFailed = true }
    try? file.update { newest in
      guard var point = newest, point.isArmed, !point.isLeftOver else { return nil }
      point.system.low ^= 1
      return point
    }
    try state.withLock { state throws(StorageError) in try SafePoints.checkFailed(state, environment) }
  }

  // MARK: Private

  private func openedFile(_ environment: LMDBEnvironment) throws(StorageError) -> SafePointFile {
    let known = state.withLock { state -> SafePointFile? in
      if state.file?.isInPlace == false { state.file = nil }
      return state.file
    }
    if let known { return known }
    guard let file = try SafePointFile(files: environment.files, creates: true, mode: environment.files.sideMode) else {
      throw StorageError(.io, .transaction, "There is no file of safe points.")
    }
    state.withLock { $0.file = file }
    return file
  }

  /// The place behind the record of a version, if the journal of a point leads there.
  private func end(
    _ point: SafePoint, _ file: SafePointFile, at version: UInt64
  ) throws(StorageError) -> (journal: CommitJournal, place: CommitJournal.Place, first: Int)? {
    guard let (journal, first) = file.journal(of: point) else { return nil }
    var place: CommitJournal.Place?
    if let last = state.withLock({ $0.end }), last.run == journal.run { place = try journal.end(from: last.place, at: version) }
    if place == nil { place = try journal.end(from: first, at: version) }
    guard let place else { return nil }
    return (journal, place, first.offset)
  }

  /// The plan by the point that there is, held by this process.
  private func known(_ environment: LMDBEnvironment, _ file: SafePointFile, _ base: Version) throws(StorageError) -> JournalPlan? {
    guard let newest = try file.newest(), newest.isArmed, newest.system == .current,
      let (journal, place, first) = try end(newest, file, at: base.rawValue)
    else { return nil }
    if state.withLock({ $0.pin == nil }) {
      // A copy of a file, with its point, was never synced.
      guard newest.isOf(environment.files) else { return nil }
      // The point is of the newest version: the upcoming commit takes no page of it, and the one after that finds it held.
      let pin = try makePin(environment)
      let isOfPoint = pin.number == newest.transaction
      state.withLock { if isOfPoint { $0.pin = pin } else { SafePoints.end(pin, &$0) } }
      guard isOfPoint else { return nil }
    }
    return JournalPlan(journal: journal, end: place, first: first)
  }

  /// A plan with a new point and an empty journal.
  private func begun(
    _ environment: LMDBEnvironment, _ file: SafePointFile, bytes: Int, _ base: Version
  ) throws(StorageError) -> JournalPlan? {
    try sync(environment)
    let run = UInt64.random(in: 1 ... .max)
    var version: UInt64?
    try begin(environment, file, bytes: bytes) { point in
      (point.run, point.journalOffset) = (run, 0)
      version = point.version
    }
    // Otherwise the point is ended by the synced commit.
    guard version == base.rawValue else { return nil }
    let place = CommitJournal.Place(offset: 0, version: base.rawValue)
    didAppend(run, place)
    return JournalPlan(journal: CommitJournal(descriptor: file.descriptor, path: file.path, run: run), end: place, first: 0)
  }
}

extension ClosedRange<Int> {
  /// The number of the range that is nearest to another one.
  fileprivate func nearest(_ number: Int) -> Int { Swift.min(Swift.max(number, lowerBound), upperBound) }
}
