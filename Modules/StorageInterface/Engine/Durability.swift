/// What a returned commit survives. Every level survives the end of the process, by `kill -9` too; they
/// differ in what a power cut or a crash of the system can take.
public enum Durability: Sendable, Hashable {
  /// Nothing: the data was synced to the disk before `commit` returned.
  case full
  /// At most the commits of the last `within`: synced in the background no later than that.
  case grouped(within: Duration)
  /// At least the commits since the system last wrote its caches back. Whether a power cut can cost more than
  /// those (the store itself) differs by engine and is said in its documentation; a killed process never can.
  case relaxed
}

/// The moment after which waiting ends. A plain value, so that one deadline can be carried through several
/// waits.
public struct Deadline: Sendable, Hashable {
  /// When waiting ends; nil: never.
  public var instant: ContinuousClock.Instant?

  /// Ends at that moment; nil: never.
  public init(_ instant: ContinuousClock.Instant?) { self.instant = instant }
  /// Waits for as long as it takes.
  public static let never = Deadline(nil)
  /// Ends so long from now.
  public static func after(_ duration: Duration) -> Deadline { Deadline(.now + duration) }
  /// Time left, zero when past; nil: no end.
  public var remaining: Duration? { instant.map { max(.zero, ContinuousClock.now.duration(to: $0)) } }
}
