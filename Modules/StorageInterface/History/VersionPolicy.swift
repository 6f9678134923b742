/// Limits for the old versions that a store's readers may keep alive.
///
/// A reader holds its version, and meanwhile the file cannot reuse the space of data replaced since: a reader forgotten for a
/// day would let the file grow for a day. A policy says when that is logged, when writes are rejected, and which readers are
/// moved on. By default the file is bounded: see `maximumBytes`.
///
/// No reader loses its version while it reads: a store is moved in a turn of its own context, and if nobody can be moved (a
/// stopped process, a frozen object that is kept), the limit is enforced by rejecting writes. If an engine must end a snapshot
/// nevertheless, every later call on it throws `.snapshotExpired`.
///
/// ```swift
/// var configuration = Store.Configuration.lmdb(url, models: Person.self)
/// configuration.versions = VersionPolicy(warningCount: 1_000, maximumCount: 10_000, expiresAfter: .seconds(60))
/// ```
public struct VersionPolicy: Sendable, Hashable {
  /// The number of live versions from which the log names the holder of the oldest, once per doubling. nil: never.
  public var warningCount: Int?
  /// A write that finds more live versions throws `.tooManyVersions` and changes nothing. nil: no limit.
  public var maximumCount: Int?
  /// The bytes that held old versions may take in the store's files in addition to the newest version
  /// (`StorageStatistics.heldBytes`); if the newest version is larger than this, its size applies. So the files stay below
  /// twice the data, or the data plus this limit. nil: no limit.
  ///
  /// From half of the limit on, a store that is behind moves to the newest version at its context's next turn after a commit,
  /// even if `autorefresh` is off. A write that finds the limit reached throws `.tooManyVersions`, which names the holder
  /// (process, version, since when), and changes nothing; writes succeed again once the holder has ended. Checked only at some
  /// writes, so that few pay for it.
  public var maximumBytes: Int?
  /// A store that is behind and has not moved for this long moves to the newest version at its context's next turn after a
  /// commit, even if `autorefresh` is off. nil: it is not moved.
  public var expiresAfter: Duration?

  /// The pressure of `held` bytes of old versions, besides a newest version of `live` bytes.
  public func pressure(held: Int, live: Int) -> Pressure {
    guard let maximumBytes else { return .none }
    let bound = max(maximumBytes, live, 1)
    return held > bound ? .full : held >= bound / 2 ? .high : .none
  }

  /// How close old versions are to the limit of bytes.
  public enum Pressure: Sendable, Hashable, Comparable {
    case none
    /// Half of the limit is used: stores that are behind move on.
    case high
    /// The limit is reached: writes are rejected.
    case full
  }

  /// The default of `maximumBytes`: 1 GiB.
  public static let defaultMaximumBytes = 1 << 30

  public init(
    warningCount: Int? = 10_000, maximumCount: Int? = nil, maximumBytes: Int? = VersionPolicy.defaultMaximumBytes,
    expiresAfter: Duration? = nil
  ) {
    self.warningCount = warningCount
    self.maximumCount = maximumCount
    self.maximumBytes = maximumBytes
    self.expiresAfter = expiresAfter
  }
}
