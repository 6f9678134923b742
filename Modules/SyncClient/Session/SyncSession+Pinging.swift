import SyncModel
import SyncProtocol

// Whether the other side is still there. It answers pings in order: one may have to wait behind megabytes that take minutes, and so may its
// answer. So whatever moves meanwhile counts as well.

extension SyncSession {
  mutating func planPing(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    if pingSeconds > 0 { effects.append(.wake(.ping, at: now + pingSeconds * 1000, generation: generation)) }
  }

  mutating func ping(_ now: Int64, patience: Int64, _ effects: inout [SyncSessionEffect]) {
    guard !isPongDue else { return }
    pingNumber &+= 1
    (isPongDue, pingedAt, self.patience) = (true, now, patience)
    effects.append(.send(.ping(number: pingNumber, roundTrip: 0)))
    effects.append(.wake(.pong, at: now + patience, generation: generation))
  }

  /// A connection that was idle while the app was suspended may be dead without a report. In the middle of a long message it would have to
  /// begin that one again.
  mutating func pingAfterSleep(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    ping(now, patience: isMoving ? configuration.pongTimeout : min(configuration.pongTimeout, configuration.wakingTimeout), &effects)
  }

  /// Something has come or gone.
  ///
  /// - Parameter isPart: whether it is a part of something longer.
  mutating func note(isPart: Bool, _ now: Int64) { (heardAt, isMoving) = (now, isPart) }

  /// The time for the answer to a ping is over: counted from the last sign of life.
  mutating func missPong(_ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]) {
    let due = heardAt + (isMoving ? configuration.pongTimeout : patience)
    guard heardAt > pingedAt, now < due else { return fail(now, random, &effects) }
    effects.append(.wake(.pong, at: due, generation: generation))
  }
}
