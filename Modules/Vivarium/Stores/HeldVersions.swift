import StorageInterface
import StoreValues
import Synchronization

/// Which versions the stores and snapshots of this process hold, by whom and since when. One for each open engine.
final class HeldVersions: Sendable {
  struct Entry: Sendable {
    var version: Version
    var since: ContinuousClock.Instant
    var label: String?
    /// Where in the program the holder was made.
    var place: String
    /// The line that other processes see; nil where there are none, or no room.
    fileprivate var announcement: (any VersionAnnouncement)?
  }

  private struct State {
    /// In the order of their numbers, which only grow.
    var entries: [(id: UInt64, entry: Entry)] = []
    var nextID: UInt64 = 0
    /// How many live versions there were when that was logged last.
    var warnedCount: UInt64 = 0
    /// The oldest version that another process, or who is no store, was seen to hold.
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
  /// Where the engine can announce it to other processes.
  private let engine: (any VersionAnnouncing)?

  init(_ engine: any StorageEngine) { self.engine = engine.powers.announcing }

  /// Lists a holder until it is dropped. `isBrief`: for the time of one job; other processes do not hear of it.
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
    // Dropped outside the lock: its line is given back then.
    let entry = state.withLock { state in state.place(id).map { state.entries.remove(at: $0) } }
    withExtendedLifetime(entry) {}
  }

  fileprivate func since(_ id: UInt64) -> ContinuousClock.Instant? {
    state.withLock { state in state.place(id).map { state.entries[$0].entry.since } }
  }

  /// Every holder of this process, the oldest version first.
  var all: [Entry] {
    state.withLock { $0.entries.map(\.entry) }.sorted { ($0.version, $0.since) < ($1.version, $1.since) }
  }

  /// The holder of the oldest version.
  var oldest: Entry? { state.withLock { $0.entries.map(\.entry).min { $0.version < $1.version } } }

  /// Whether so many live versions are news for the log: at `warningCount` and at each doubling. Logged anew once they have been
  /// few in between: half of what was logged, so that a holder who moves to and fro at the bound is logged once.
  func isNews(_ count: UInt64, from warningCount: UInt64) -> Bool {
    state.withLock { state in
      if count < max(warningCount / 2, 1) { state.warnedCount = 0 }
      guard count >= max(warningCount, state.warnedCount &* 2) else { return false }
      state.warnedCount = count
      return true
    }
  }

  /// What `isNews` would say, which is not logged yet.
  func wouldBeNews(_ count: UInt64, from warningCount: UInt64) -> Bool {
    state.withLock { count >= max(warningCount, $0.warnedCount &* 2) }
  }

  /// What the engine knew of all readers when it was asked last: asking costs more than a small commit, and what it said holds
  /// until it is asked again.
  func learn(_ statistics: StorageStatistics, _ policy: VersionPolicy) {
    let oldest = statistics.pins.min { $0.version < $1.version }
    let pressure = policy.pressure(held: statistics.heldBytes, live: statistics.liveBytes)
    state.withLock { ($0.oldestOfOthers, $0.pressure) = (oldest, pressure) }
  }

  var oldestOfOthers: VersionPin? { state.withLock { $0.oldestOfOthers } }

  /// How near what old versions keep was to its bound when the engine was asked last.
  var pressure: VersionPolicy.Pressure { state.withLock { $0.pressure } }

  /// True each `every`-th time: for questions too dear to ask at each write.
  func isDue(every: UInt64) -> Bool {
    state.withLock { state in
      state.checks &+= 1
      return state.checks % max(every, 1) == 0
    }
  }
}

/// A holder's line in the list of held versions. Ends with its last reference.
final class VersionHold: Sendable {
  private let versions: HeldVersions
  private let id: UInt64

  fileprivate init(_ versions: HeldVersions, _ id: UInt64) {
    self.versions = versions
    self.id = id
  }

  /// The holder holds another version from now on.
  func move(to version: Version) { versions.move(id, to: version) }

  /// Since when this version is held.
  var age: Duration { versions.since(id).map { $0.duration(to: .now) } ?? .zero }

  deinit { versions.release(id) }
}
