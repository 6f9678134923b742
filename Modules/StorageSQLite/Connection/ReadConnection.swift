#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StoreValues
import Synchronization

/// The connection of an open transaction, and the right to use it.
///
/// A read that rests keeps SQLite from beginning the log anew: it may need frames of it. Once all frames are in the main
/// file, the same version can be read from there, so the engine gives the resting read another connection that stands on the
/// very same state and needs no log. The transaction does not notice: whoever uses the connection has claimed it.
///
/// `@unchecked` is sound because its variables, `connection`, `state` and `isUnlogged`, are only touched by who has the claim: an atomic
/// that one thread at a time takes from free to taken, acquiring, and gives back releasing, so that the next sees what the last
/// wrote. Everything else is a constant or an atomic. No value from a file has a part in it.
final class ReadConnection: @unchecked Sendable {
  private enum Claim {
    static let free: UInt8 = 0
    static let taken: UInt8 = 1
  }

  let version: Version
  let layout: SchemaLayout
  /// Milliseconds since 1970.
  let since: Int64
  private let claim = Atomic<UInt8>(Claim.free)
  private(set) var connection: Connection
  /// What the connection's snapshot is of; nil where that is not known.
  private var state: LogState?
  /// The snapshot needs nothing of the log.
  private var isUnlogged = false

  init(_ connection: Connection, _ snapshot: SnapshotState, _ state: LogState?) {
    self.connection = connection
    version = snapshot.version
    layout = snapshot.layout
    self.state = state
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    since = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec / 1_000_000)
  }

  /// Waits for the claim: somebody else has it for less than a microsecond.
  func take() { while !tryTake() { sched_yield() } }

  func release() { claim.store(Claim.free, ordering: .releasing) }

  private func tryTake() -> Bool {
    claim.compareExchange(expected: Claim.free, desired: Claim.taken, ordering: .acquiring).exchanged
  }

  /// Whether the read stands on that state and holds frames of the log; nil while it is in use.
  func holdsLog(at now: LogState) -> Bool? {
    guard tryTake() else { return nil }
    defer { release() }
    return state == now && !isUnlogged
  }

  /// Gives the read a connection that stands on the same state without the log, and returns its own; nil while it is in use.
  func exchange(_ other: Connection, at now: LogState) -> Connection? {
    guard tryTake() else { return nil }
    defer { release() }
    guard state == now, !isUnlogged else { return nil }
    isUnlogged = true
    defer { connection = other }
    return connection
  }
}
