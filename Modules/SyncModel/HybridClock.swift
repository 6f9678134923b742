/// A hybrid logical clock (Kulkarni, Demirbas, Madappa, Avva, Leone: *Logical Physical Clocks*, 2014). It follows the wall clock and
/// never falls behind a stamp it has seen, so *happened before* implies *earlier stamp*. Stamps of writers who did not see each other
/// compare by the time of writing.
///
/// A value type: the caller passes the wall clock's time, and stores `last` with the changes it stamped.
public struct HybridClock: Hashable, Sendable {
  /// The author of the stamps that the clock gives out.
  public let replica: ReplicaID
  /// The highest time given out or seen.
  public private(set) var last: UInt64
  /// By how many milliseconds the server's clock is ahead of this device's, according to its last greeting.
  public var offset: Int64

  /// How far ahead of the server's clock a stamp may be, in milliseconds.
  public static let aheadMax: Int64 = 5 * 60 * 1000

  /// Creates a clock from stored state; by default one that has given out and seen nothing.
  ///
  /// - Parameters:
  ///   - last: the highest time given out or seen, in the unit of `Stamp.time`.
  ///   - offset: by how many milliseconds the server's clock is ahead of this device's.
  public init(replica: ReplicaID, last: UInt64 = 0, offset: Int64 = 0) {
    self.replica = replica
    self.last = last
    self.offset = offset
  }

  /// Reserves `count` consecutive stamps (at least one) and returns the first.
  ///
  /// - Parameter wall: the device's clock in milliseconds since 1970; it may stand still or go back.
  /// - Throws: `.exhausted` if there is no later time, because a stamp at the end of time was seen. The clock is then unchanged.
  public mutating func next(_ count: Int = 1, wall: Int64) throws(ClockError) -> Stamp {
    let (after, isLast) = last.addingReportingOverflow(1)
    let first = max(now(wall) << 16, after)
    let (end, isPast) = first.addingReportingOverflow(UInt64(max(count, 1) - 1))
    guard !isLast, !isPast else { throw .exhausted }
    last = end
    return Stamp(time: first, replica: replica)
  }

  /// Resets the clock to zero, for a replica that gives up all stamps it has made. The caller must call `receive` again for every stamp
  /// that later ones have to follow.
  public mutating func rewind() { last = 0 }

  /// Notes the stamp of an integrated operation: everything this replica does from now on is later.
  public mutating func receive(_ stamp: Stamp) { last = max(last, stamp.time) }

  /// Checks whether the server may accept a stamp. One stamp far in the future would pull every clock ahead and win against everything
  /// written until then. Any time in the past is accepted, because it comes from work offline.
  public func check(_ stamp: Stamp, wall: Int64, aheadMax: Int64 = HybridClock.aheadMax) throws(ClockError) {
    let now = now(wall)
    guard stamp.milliseconds > now, stamp.milliseconds - now > UInt64(max(aheadMax, 0)) else { return }
    throw .tooFarAhead(milliseconds: stamp.milliseconds - now)
  }

  /// The corrected wall clock, clamped to 48 bits.
  private func now(_ wall: Int64) -> UInt64 {
    let (sum, isOver) = wall.addingReportingOverflow(offset)
    let time = isOver ? (wall < 0 ? Int64.min : .max) : sum
    return UInt64(min(max(time, 0), 1 << 48 - 1))
  }
}

/// Why a clock cannot give out a stamp, or rejects one.
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
