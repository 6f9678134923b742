import Notifications
import StorageInterface
import StoreValues
import Synchronization

/// A version of the data that a reader keeps alive.
public struct HeldVersion: Sendable, Hashable {
  /// The version.
  public var version: Version
  /// The system's id of the process that holds it; 0 if unknown: it may not write beside the file.
  public var processID: Int32
  /// `Configuration.label` of the store that holds it; for another process's store without a label, where it was opened. nil if the
  /// holder is not a store, or gave no label.
  public var label: String?
  /// Where the store was opened, "Module/File.swift:12"; nil for other processes.
  public var place: String?
  /// How long it has been held; nil if unknown. For other processes measured by the wall clock.
  public var age: Duration?
}

extension Store {
  /// The versions held by all readers, including this store and other processes, the oldest version first.
  ///
  /// ```swift
  /// for held in try store.heldVersions() { print(held.version, held.label ?? held.place ?? "process \(held.processID)") }
  /// ```
  ///
  /// Each holder prevents the file from reusing space; see `VersionPolicy` for bounds. For SQLite files, of other processes only
  /// stores are known, up to 48 of them. Reads the whole table of readers, so for diagnostics and tests.
  public func heldVersions() throws(StoreError) -> [HeldVersion] {
    let statistics = try statistics()
    let own = shared.versions.all.map { entry in
      HeldVersion(
        version: entry.version, processID: Store.processID, label: entry.label, place: entry.place,
        age: entry.since.duration(to: .now))
    }
    // The engine knows readers by process; subtract this process's stores to find its other readers.
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

  /// The file's bytes on disk and its free bytes, the pinned versions, and the extent of the history.
  public func statistics() throws(StoreError) -> StorageStatistics {
    try storing { () throws(StorageError) in try shared.engine.statistics() }
  }

  /// Returns space in the store's files that no version needs to the system. Returns the bytes by which the files shrank on disk.
  ///
  /// ```swift
  /// try store.delete(store.objects(Message.self))   // in a write
  /// try store.compact()
  /// ```
  ///
  /// A file reuses its free space by itself, and an LMDB file also returns large amounts by itself; this is for returning it now.
  /// LMDB: others continue to read and write; writers wait for milliseconds at a time. SQLite: the file is rewritten, and writers
  /// wait for that. Space that a held version needs stays. 0 in memory.
  ///
  /// Throws `.alreadyInWrite`, `.readOnly`, `.writeTimeout`, `.outOfDiskSpace`, `.io`.
  @discardableResult
  public func compact() throws(StoreError) -> Int {
    try checkNotWriting(remedy: "Commit or cancel it first.")
    guard let engine = shared.engine.powers.space else { return 0 }
    return try storing { () throws(StorageError) in try engine.reclaimSpace(writeDeadline) }
  }

  /// The number of this process's writes that wait for others of it; for tests.
  package var waitingWriteCount: Int { shared.writers.count }

  /// The number of disk syncs for `commitAsyncWrite`; for tests.
  package var syncCount: Int { shared.syncer.syncCount.load(ordering: .relaxed) }

  /// Applies `VersionPolicy` to a write that begins at `newest`. May log, may throw `.tooManyVersions`.
  func checkVersions(_ newest: Version) throws(StoreError) {
    let policy = configuration.versions
    guard policy.warningCount != nil || policy.maximumCount != nil || policy.maximumBytes != nil else { return }
    let smallest = min(policy.warningCount ?? .max, policy.maximumCount ?? .max)
    // Other processes are only in the engine's table, which costs more to read than a small commit. Before rejecting or logging,
    // the table is read again: the holder may have released the version.
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

  /// The oldest version known to be held, and the number of versions from it on.
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
    let process = pin.processID == 0 ? "a process that may not write beside the file" : "process \(pin.processID)"
    return "the oldest, \(version.rawValue), is held by \(process)\(label)\(age)"
  }

  /// Whether this store has been behind for longer than its policy allows, or old versions keep at least half of their allowed
  /// space.
  var isExpired: Bool {
    guard let hold = reader.hold else { return false }
    if let limit = configuration.versions.expiresAfter, hold.age >= limit { return true }
    guard configuration.versions.maximumBytes != nil, shared.engine.kind != "memory" else { return false }
    // Only stores that do not move by themselves ask. A process that does not write must check the readers here.
    if shared.versions.isDue(every: 64) { askWhoReads() }
    return shared.versions.pressure >= .high
  }
}
