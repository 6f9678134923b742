import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// A version of the data that somebody keeps alive by reading it.
public struct HeldVersion: Sendable, Hashable {
  /// Which version it is.
  public var version: Version
  /// The process that holds it, as its system numbers it.
  public var processID: Int32
  /// `Configuration.label` of the store that holds it; of another process's store without one, where it was opened. nil
  /// where the holder is no store, or did not say.
  public var label: String?
  /// Where the store was opened, "Module/File.swift:12"; nil for other processes.
  public var place: String?
  /// For how long; nil where the holder did not say. Of other processes by the wall clock.
  public var age: Duration?
}

extension Store {
  /// Who holds which version, this store and other processes included, the oldest version first.
  ///
  /// ```swift
  /// for held in try store.heldVersions() { print(held.version, held.label ?? held.place ?? "process \(held.processID)") }
  /// ```
  ///
  /// Each is a reader that keeps the file from using space again; see `VersionPolicy` for bounds. Of SQLite files in other
  /// processes only stores are known, up to 48 of them. A look at the whole table of readers: for people and tests.
  public func heldVersions() throws(StoreError) -> [HeldVersion] {
    let statistics = try statistics()
    let own = shared.versions.all.map { entry in
      HeldVersion(
        version: entry.version, processID: Store.processID, label: entry.label, place: entry.place,
        age: entry.since.duration(to: .now))
    }
    // The engine knows its readers by process; of ours, those that are no store's are left over.
    var left: [Version: Int] = [:]
    for held in own { left[held.version, default: 0] += 1 }
    var others: [HeldVersion] = []
    for pin in statistics.pins {
      if pin.processID == Store.processID, let count = left[pin.version], count > 0 {
        left[pin.version] = count - 1
      } else {
        let age = pin.sinceMilliseconds.map { Duration.milliseconds(max(0, Store.now - $0)) }
        others.append(HeldVersion(version: pin.version, processID: pin.processID, label: pin.label, age: age))
      }
    }
    return (own + others).sorted { $0.version < $1.version }
  }

  /// Bytes on disk and free in the file, the versions that are pinned, and how far the history goes back.
  public func statistics() throws(StoreError) -> StorageStatistics {
    try storing { () throws(StorageError) in try shared.engine.statistics() }
  }

  /// Gives the space in the store's files that no version needs any more back to the system, and returns the bytes by which
  /// they are smaller on the disk.
  ///
  /// ```swift
  /// try store.delete(store.objects(Message.self))   // in a write
  /// try store.compact()
  /// ```
  ///
  /// A file uses its free space again by itself, and an LMDB file gives back what is much by itself; this is for when the disk
  /// should have it now. LMDB: others go on reading and writing, writers wait for milliseconds at a time. SQLite: the
  /// file is written anew and writers wait for that. What old versions need that somebody reads stays. 0 in memory.
  ///
  /// `.alreadyInWrite`, `.readOnly`, `.writeTimeout`, `.outOfDiskSpace`, `.io`.
  @discardableResult
  public func compact() throws(StoreError) -> Int {
    try checkNotWriting(remedy: "Commit or cancel it first.")
    guard let engine = shared.engine.powers.space else { return 0 }
    return try storing { () throws(StorageError) in try engine.reclaimSpace(writeDeadline) }
  }

  /// How many writes of this process wait for others of it; for tests.
  package var waitingWriteCount: Int { shared.writers.count }

  /// How often the disk was waited for on behalf of `commitAsyncWrite`; for tests.
  package var syncCount: Int { shared.syncer.syncCount.load(ordering: .relaxed) }

  /// Applies `VersionPolicy` to a write that is about to begin at `newest`: may log, may throw `.tooManyVersions`.
  func checkVersions(_ newest: Version) throws(StoreError) {
    let policy = configuration.versions
    guard policy.warningCount != nil || policy.maximumCount != nil || policy.maximumBytes != nil else { return }
    let smallest = min(policy.warningCount ?? .max, policy.maximumCount ?? .max)
    // Other processes are in the engine's table only, which costs more to read than a small commit. What would be refused or
    // logged is looked at afresh: the holder may have let go.
    var isFresh = shared.versions.isDue(every: UInt64(min(max(smallest / 4, 1), 256)))
    if isFresh { askWhoReads() }
    var (oldest, count) = liveVersions(newest)
    if !isFresh, shared.versions.pressure == .full || count > UInt64(max(policy.maximumCount ?? .max, 1))
      || shared.versions.wouldBeNews(count, from: UInt64(max(policy.warningCount ?? .max, 1))) {
      isFresh = true
      askWhoReads()
      (oldest, count) = liveVersions(newest)
    }
    if let maximum = policy.maximumCount, count > UInt64(max(maximum, 1)) {
      throw tooManyVersions(
        "\(count) versions are kept alive by readers, and \(maximum) are allowed: \(holder(of: oldest)).",
        ["versions": "\(count)", "maximum": "\(maximum)"])
    }
    if let maximum = policy.maximumBytes, shared.versions.pressure == .full {
      throw tooManyVersions(
        "Old versions that are read keep as much of the file as they may (\(maximum) bytes, or what the newest takes): "
          + "\(holder(of: oldest)).",
        ["versions": "\(count)", "maximumBytes": "\(maximum)"])
    }
    if let warning = policy.warningCount, shared.versions.isNews(count, from: UInt64(max(warning, 1))) {
      StoreLog.warning("\(count) versions are kept alive by readers: \(holder(of: oldest)). The file grows while they are.")
    }
  }

  private func askWhoReads() {
    if let statistics = try? shared.engine.statistics() { shared.versions.learn(statistics, configuration.versions) }
  }

  /// The oldest version that is known to be read, and how many there are from it on.
  private func liveVersions(_ newest: Version) -> (oldest: Version, count: UInt64) {
    var oldest = min(shared.versions.oldest?.version ?? newest, newest)
    if let others = shared.versions.oldestOfOthers { oldest = min(oldest, others.version) }
    return (oldest, newest.rawValue - oldest.rawValue + 1)
  }

  private func tooManyVersions(_ message: String, _ details: [String: String]) -> StoreError {
    StoreError(
      .tooManyVersions, message, remedy: "Refresh or close that store, or let it expire by 'versions.expiresAfter'.",
      details: details)
  }

  private func holder(of version: Version) -> String {
    if let entry = shared.versions.oldest, entry.version == version {
      let age = entry.since.duration(to: .now).components.seconds
      let holder = entry.label.map { "'\($0)'" } ?? "a store"
      return "the oldest, \(version.rawValue), is held by \(holder) opened at \(entry.place), for \(age) s"
    }
    guard let pin = shared.versions.oldestOfOthers, pin.version == version else {
      return "the oldest, \(version.rawValue), is held by another process"
    }
    let label = pin.label.map { " ('\($0)')" } ?? ""
    let age = pin.sinceMilliseconds.map { ", for \(max(0, Store.now &- $0) / 1_000) s" } ?? ""
    return "the oldest, \(version.rawValue), is held by process \(pin.processID)\(label)\(age)"
  }

  /// Whether this store has been behind for longer than its policy allows, or old versions keep half of what they may.
  var isExpired: Bool {
    guard let hold = reader.hold else { return false }
    if let limit = configuration.versions.expiresAfter, hold.age >= limit { return true }
    guard configuration.versions.maximumBytes != nil, shared.engine.kind != "memory" else { return false }
    // Only stores that do not move by themselves ask; those of a process that does not write have to look for themselves.
    if shared.versions.isDue(every: 64) { askWhoReads() }
    return shared.versions.pressure >= .high
  }
}
