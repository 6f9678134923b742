import Notifications
import Storage
import Synchronization
import Values

/// A version of the data that somebody keeps alive by reading it.
public struct HeldVersion: Sendable, Hashable {
  public var version: Version
  public var processID: Int32
  /// `Configuration.label` of the store that holds it; nil without one and for other processes.
  public var label: String?
  /// Where the store was opened, "Module/File.swift:12"; nil for other processes.
  public var place: String?
  /// For how long; nil for other processes.
  public var age: Duration?
}

extension Store {
  /// Who holds which version, this store and other processes included, the oldest version first.
  ///
  /// ```swift
  /// for held in try store.heldVersions() { print(held.version, held.label ?? held.place ?? "process \(held.processID)") }
  /// ```
  ///
  /// Each is a reader that keeps the file from using space again; see `VersionPolicy` for bounds. SQLite does not
  /// say who reads in other processes. A look at the whole table of readers: for people and tests.
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
        others.append(HeldVersion(version: pin.version, processID: pin.processID))
      }
    }
    return (own + others).sorted { $0.version < $1.version }
  }

  /// Bytes on disk and free in the file, the versions that are pinned, and how far the history goes back.
  public func statistics() throws(StoreError) -> StorageStatistics {
    try storing { () throws(StorageError) in try shared.engine.statistics() }
  }

  /// How often the disk was waited for on behalf of `commitAsyncWrite`; for tests.
  package var syncCount: Int { shared.syncer.syncCount.load(ordering: .relaxed) }

  /// Applies `VersionPolicy` to a write that is about to begin at `newest`: may log, may throw `.tooManyVersions`.
  func checkVersions(_ newest: Version) throws(StoreError) {
    let policy = configuration.versions
    guard let smallest = [policy.warningCount, policy.maximumCount].compactMap(\.self).min() else { return }
    var oldest = shared.versions.oldest?.version ?? newest
    // Other processes are in the engine's table only, which costs more to read than a small commit.
    if shared.versions.isDue(every: UInt64(min(max(smallest / 4, 1), 256))),
      let others = try? shared.engine.statistics().pins.map(\.version).min() {
      oldest = min(oldest, others)
    }
    let count = newest.rawValue > oldest.rawValue ? newest.rawValue - oldest.rawValue + 1 : 1
    if let maximum = policy.maximumCount, count > UInt64(max(maximum, 1)) {
      throw StoreError(
        .tooManyVersions, "\(count) versions are kept alive by readers, and \(maximum) are allowed: \(holder(of: oldest)).",
        remedy: "Refresh or close that store, or let it expire by 'versions.expiresAfter'.",
        details: ["versions": "\(count)", "maximum": "\(maximum)"])
    }
    if let warning = policy.warningCount, shared.versions.isNews(count, from: UInt64(max(warning, 1))) {
      StoreLog.warning("\(count) versions are kept alive by readers: \(holder(of: oldest)). The file grows while they are.")
    }
  }

  private func holder(of version: Version) -> String {
    guard let entry = shared.versions.oldest, entry.version == version else {
      return "the oldest, \(version.rawValue), is held by another process"
    }
    let age = entry.since.duration(to: .now).components.seconds
    return "the oldest, \(version.rawValue), is held by \(entry.label.map { "'\($0)'" } ?? "a store") opened at \(entry.place), for \(age) s"
  }

  /// Whether this store has been behind for longer than its policy allows.
  var isExpired: Bool {
    guard let limit = configuration.versions.expiresAfter, let hold else { return false }
    return hold.age >= limit
  }
}
