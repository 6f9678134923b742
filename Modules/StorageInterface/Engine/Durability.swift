/// What a returned commit survives. Every level survives the end of the process, even by `kill -9`; they differ in what a power
/// cut or a system crash can lose.
public enum Durability: Sendable, Hashable {
  /// Loses nothing: the data were synced to disk before `commit` returned.
  case full
  /// Loses at most the commits of the last `within`: they are synced in the background within that time.
  case grouped(within: Duration)
  /// Loses at least the commits since the system last wrote its caches back. Whether a power cut can lose more (the store
  /// itself) depends on the engine, whose documentation says so; a killed process never does.
  case relaxed
}

/// The time at which waiting ends. A plain value, so that one deadline can cover several waits.
public struct Deadline: Sendable, Hashable {
  /// When waiting ends; nil: never.
  public var instant: ContinuousClock.Instant?

  /// Ends at that time; nil: never.
  public init(_ instant: ContinuousClock.Instant?) { self.instant = instant }
  /// Waits indefinitely.
  public static let never = Deadline(nil)
  /// Ends after a duration from now.
  public static func after(_ duration: Duration) -> Deadline { Deadline(.now + duration) }
  /// Remaining time, zero if past; nil: no end.
  public var remaining: Duration? { instant.map { max(.zero, ContinuousClock.now.duration(to: $0)) } }
}
