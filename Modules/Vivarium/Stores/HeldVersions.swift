import StorageInterface
import StoreValues
import Synchronization

/// The versions that stores and snapshots of this process hold, with holder and time. One for each open engine.
final class HeldVersions: Sendable {
  struct Entry: Sendable {
    var version: Version
    var since: ContinuousClock.Instant
    var label: String?
    /// The source line that created the holder.
    var place: String
    /// The entry that other processes see; nil if the engine has none, or no room.
    fileprivate var announcement: (any VersionAnnouncement)?
  }

  private struct State {
    /// In the order of their ids, which only increase.
    var entries: [(id: UInt64, entry: Entry)] = []
    var nextID: UInt64 = 0
    /// The number of live versions when it was last logged.
    var warnedCount: UInt64 = 0
    /// The oldest version held by another process, or by a reader that is not a store, when last checked.
    var oldestOfOthers: VersionPin?
    var pressure = VersionPolicy.Pressure.none
    var checks: UInt64 = 0

    /// O(log n).
    func place(_ id: UInt64) -> Int? {
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if entries[middle].id < id { low = middle + 1 } else { high = middle }
      }
      return low < entries.count && entries[low].id == id ? low : nil
    }
  }

  private let state = Mutex(State())
  /// The engine's power to announce held versions to other processes; nil if it has none.
  private let engine: (any VersionAnnouncing)?

  init(_ engine: any StorageEngine) { self.engine = engine.powers.announcing }

  /// Lists a holder until it is released. `isBrief`: for one job only; not announced to other processes.
  func hold(_ version: Version, label: String?, place: String, isBrief: Bool = false) -> VersionHold {
    let announcement = isBrief ? nil : engine?.announce(version, label: label ?? place)
    let id = state.withLock { state in
      state.nextID += 1
      let entry = Entry(version: version, since: .now, label: label, place: place, announcement: announcement)
      state.entries.append((state.nextID, entry))
      return state.nextID
    }
    return VersionHold(self, id)
  }

  fileprivate func move(_ id: UInt64, to version: Version) {
    state.withLock { state in
      guard let i = state.place(id) else { return }
      state.entries[i].entry.version = version
      state.entries[i].entry.since = .now
      state.entries[i].entry.announcement?.move(to: version)
    }
  }

  fileprivate func release(_ id: UInt64) {
    // The entry is released outside the lock, because that returns its announcement to the engine.
    let entry = state.withLock { state in state.place(id).map { state.entries.remove(at: $0) } }
    withExtendedLifetime(entry) {}
  }

  fileprivate func since(_ id: UInt64) -> ContinuousClock.Instant? {
    state.withLock { state in state.place(id).map { state.entries[$0].entry.since } }
  }

  /// All holders of this process, the oldest version first.
  var all: [Entry] {
    state.withLock { $0.entries.map(\.entry) }.sorted { ($0.version, $0.since) < ($1.version, $1.since) }
  }

  /// The holder of the oldest version.
  var oldest: Entry? { state.withLock { $0.entries.map(\.entry).min { $0.version < $1.version } } }

  /// Whether this number of live versions must be logged: at `warningCount` and at each doubling. Logged again only after the
  /// number has dropped below half of `warningCount`, so that a holder that moves around the bound is logged once.
  func isNews(_ count: UInt64, from warningCount: UInt64) -> Bool {
    state.withLock { state in
      if count < max(warningCount / 2, 1) { state.warnedCount = 0 }
      guard count >= max(warningCount, state.warnedCount &* 2) else { return false }
      state.warnedCount = count
      return true
    }
  }

  /// The result `isNews` would have, without marking it as logged.
  func wouldBeNews(_ count: UInt64, from warningCount: UInt64) -> Bool {
    state.withLock { count >= max(warningCount, $0.warnedCount &* 2) }
  }

  /// Stores what the engine last reported about all readers: asking it costs more than a small commit, so the answer is used until
  /// the next time.
  func learn(_ statistics: StorageStatistics, _ policy: VersionPolicy) {
    let oldest = statistics.pins.min { $0.version < $1.version }
    let pressure = policy.pressure(held: statistics.heldBytes, live: statistics.liveBytes)
    state.withLock { ($0.oldestOfOthers, $0.pressure) = (oldest, pressure) }
  }

  var oldestOfOthers: VersionPin? { state.withLock { $0.oldestOfOthers } }

  /// How near the space kept by old versions was to its bound when the engine was last asked.
  var pressure: VersionPolicy.Pressure { state.withLock { $0.pressure } }

  /// True every `every`-th time: for checks too expensive for each write.
  func isDue(every: UInt64) -> Bool {
    state.withLock { state in
      state.checks &+= 1
      return state.checks % max(every, 1) == 0
    }
  }
}

/// A holder's entry in the list of held versions. Ends with its last reference.
final class VersionHold: Sendable {
  private let versions: HeldVersions
  private let id: UInt64

  fileprivate init(_ versions: HeldVersions, _ id: UInt64) {
    self.versions = versions
    self.id = id
  }

  /// Records that the holder holds another version from now on.
  func move(to version: Version) { versions.move(id, to: version) }

  /// How long this version has been held.
  var age: Duration { versions.since(id).map { $0.duration(to: .now) } ?? .zero }

  deinit { versions.release(id) }
}
