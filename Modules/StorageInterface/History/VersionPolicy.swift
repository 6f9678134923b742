/// How many old versions of the data a store's readers may keep alive.
///
/// Whoever reads holds a version, and while it is held the file cannot use the space of what was replaced since
/// again: a reader forgotten for a day would let the file grow for a day. A policy says when that is logged, when it is
/// refused, and which readers are moved on. By default the file is bounded: see `maximumBytes`.
///
/// No reader's version is taken from under it: a store is moved in a turn of its own context, and where nobody can be
/// moved (a process that stands still, a frozen object that is kept) the bound holds by refusing writes. An engine that
/// has to end a snapshot all the same makes every later call on it `.snapshotExpired`.
///
/// ```swift
/// var configuration = Store.Configuration.lmdb(url, models: Person.self)
/// configuration.versions = VersionPolicy(warningCount: 1_000, maximumCount: 10_000, expiresAfter: .seconds(60))
/// ```
public struct VersionPolicy: Sendable, Hashable {
  /// From so many live versions on, the log says who holds the oldest; once for each doubling. nil: never.
  public var warningCount: Int?
  /// A write that finds more live versions than this throws `.tooManyVersions` and changes nothing. nil: no limit.
  public var maximumCount: Int?
  /// Bytes that old versions may keep in the store's files, beside the newest version, because somebody reads them
  /// (`StorageStatistics.heldBytes`); where the newest version takes more than this, as many as it takes. So the files stay
  /// below twice the data, or the data and this. nil: no limit.
  ///
  /// From half of it on a store that is behind moves to the newest version at its context's next turn after a commit, also
  /// when `autorefresh` is off. A write that finds all of it taken throws `.tooManyVersions`, which names the holder
  /// (process, version, since when), and changes nothing; it goes through again once the holder has let go. Looked at at
  /// some of the writes only, so that one in a while pays for it.
  public var maximumBytes: Int?
  /// A store that is behind and has not moved for so long moves to the newest version at its context's next turn
  /// after a commit, also when `autorefresh` is off. nil: it stays as long as it likes.
  public var expiresAfter: Duration?

  /// What `held` bytes of old versions are by this policy, beside a newest version of `live` bytes.
  public func pressure(held: Int, live: Int) -> Pressure {
    guard let maximumBytes else { return .none }
    let bound = max(maximumBytes, live, 1)
    return held > bound ? .full : held >= bound / 2 ? .high : .none
  }

  /// How near old versions are to the bound of bytes.
  public enum Pressure: Sendable, Hashable, Comparable {
    case none
    /// Half of it is taken: who is behind moves on.
    case high
    /// All of it is taken: writes are refused.
    case full
  }

  /// What `maximumBytes` is by default: 1 GiB.
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
