/// How many old versions of the data a store's readers may keep alive.
///
/// Whoever reads holds a version, and while it is held the file cannot use the space of what was replaced since
/// again: a reader forgotten for a day lets the file grow for a day. A policy says when that is told, when it is
/// refused, and which readers are moved on.
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
  /// A store that is behind and has not moved for so long moves to the newest version at its context's next turn
  /// after a commit, also when `autorefresh` is off. nil: it stays as long as it likes.
  public var expiresAfter: Duration?

  public init(warningCount: Int? = 10_000, maximumCount: Int? = nil, expiresAfter: Duration? = nil) {
    self.warningCount = warningCount
    self.maximumCount = maximumCount
    self.expiresAfter = expiresAfter
  }
}
