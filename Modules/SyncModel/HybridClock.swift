/// A hybrid logical clock (Kulkarni, Demirbas, Madappa, Avva, Leone: *Logical Physical Clocks*, 2014): it follows the
/// wall clock and never falls behind a stamp it has seen. So *happened before* implies *earlier stamp*, and stamps of
/// writers who did not see each other compare by the time of writing.
///
/// A value: the caller says what the wall clock shows, and stores `last` with the changes it stamped.
public struct HybridClock: Hashable, Sendable {
  /// Whose clock it is: the author of the stamps that it gives out.
  public let replica: ReplicaID
  /// The highest time given out or seen.
  public private(set) var last: UInt64
  /// Milliseconds that the server's clock is ahead of this device's, as its last greeting said.
  public var offset: Int64

  /// How far ahead of the server's clock a stamp may be, in milliseconds.
  public static let aheadMax: Int64 = 5 * 60 * 1000

  /// A clock that goes on from what was stored; by default one that has given out and seen nothing.
  ///
  /// - Parameters:
  ///   - last: the highest time given out or seen, in the unit of `Stamp.time`.
  ///   - offset: milliseconds that the server's clock is ahead of this device's.
  public init(replica: ReplicaID, last: UInt64 = 0, offset: Int64 = 0) {
    self.replica = replica
    self.last = last
    self.offset = offset
  }

  /// Reserves `count` stamps in a row (one where it is less) and returns the first.
  ///
  /// - Parameter wall: what the device's clock shows, in milliseconds since 1970; it may stand or go back.
  /// - Throws: `.exhausted` when there is no later time: some stamp seen was of the end of time. Nothing changed then.
  public mutating func next(_ count: Int = 1, wall: Int64) throws(ClockError) -> Stamp {
    let (after, isLast) = last.addingReportingOverflow(1)
    let first = max(now(wall) << 16, after)
    let (end, isPast) = first.addingReportingOverflow(UInt64(max(count, 1) - 1))
    guard !isLast, !isPast else { throw .exhausted }
    last = end
    return Stamp(time: first, replica: replica)
  }

  /// Forgets what it has stamped, for a replica whose own stamps are all given up. What it is to stay behind of is to be received again.
  public mutating func rewind() { last = 0 }

  /// Takes note of an operation that is integrated: all that this replica does from now on is later.
  public mutating func receive(_ stamp: Stamp) { last = max(last, stamp.time) }

  /// Whether a stamp may be taken in, by the one who keeps the log. One stamp far in the future would draw every clock
  /// after it, and win against everything written until then. Any time in the past is right: that is work offline.
  public func check(_ stamp: Stamp, wall: Int64, aheadMax: Int64 = HybridClock.aheadMax) throws(ClockError) {
    let now = now(wall)
    guard stamp.milliseconds > now, stamp.milliseconds - now > UInt64(max(aheadMax, 0)) else { return }
    throw .tooFarAhead(milliseconds: stamp.milliseconds - now)
  }

  /// The corrected wall clock within what 48 bits hold.
  private func now(_ wall: Int64) -> UInt64 {
    let (sum, isOver) = wall.addingReportingOverflow(offset)
    let time = isOver ? (wall < 0 ? Int64.min : .max) : sum
    return UInt64(min(max(time, 0), 1 << 48 - 1))
  }
}

/// Why a clock gives no stamp, or takes none.
public enum ClockError: Error, Hashable, Sendable {
  case exhausted
  case tooFarAhead(milliseconds: UInt64)

  /// One sentence: what happened.
  public var message: String {
    switch self {
    case .exhausted: "The clock of this replica stands at the end of time."
    case .tooFarAhead(let milliseconds): "A change is stamped \(milliseconds) ms in the future."
    }
  }

  /// One sentence: what helps.
  public var remedy: String {
    switch self {
    case .exhausted: "Reset the store: it gets a new replica and the server's state."
    case .tooFarAhead: "Correct the clock by the server's time, stamp what waits again, and upload it."
    }
  }
}

extension ClockError: CustomStringConvertible {
  public var description: String { "\(message) \(remedy)" }
}
