#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StoreValues
import Synchronization

/// The connection of an open transaction, and the claim that guards it.
///
/// An idle read keeps SQLite from restarting the log, because it may need frames of it. Once all frames are in the main file,
/// the same version can be read from there, so the engine exchanges the idle read's connection for one on the same state that
/// needs no log. The transaction does not notice, because every use of the connection holds the claim.
///
/// `@unchecked` is sound because its variables, `connection`, `state` and `isUnlogged`, are only accessed with the claim held:
/// an atomic that one thread at a time sets from free to taken, acquiring, and resets, releasing, so that the next holder sees
/// the last one's writes. Everything else is a constant or an atomic. No value from a file is involved.
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
  /// The file's state in the connection's snapshot; nil if unknown.
  private var state: LogState?
  /// The snapshot needs no frame of the log.
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

  /// Waits for the claim: others hold it for less than a microsecond.
  func take() { while !tryTake() { sched_yield() } }

  func release() { claim.store(Claim.free, ordering: .releasing) }

  private func tryTake() -> Bool {
    claim.compareExchange(expected: Claim.free, desired: Claim.taken, ordering: .acquiring).exchanged
  }

  /// Whether the read is on the given state and needs frames of the log; nil while it is in use.
  func holdsLog(at now: LogState) -> Bool? {
    guard tryTake() else { return nil }
    defer { release() }
    return state == now && !isUnlogged
  }

  /// Exchanges the connection for one on the same state that needs no log, and returns the old one; nil while the read is in
  /// use.
  func exchange(_ other: Connection, at now: LogState) -> Connection? {
    guard tryTake() else { return nil }
    defer { release() }
    guard state == now, !isUnlogged else { return nil }
    isUnlogged = true
    defer { connection = other }
    return connection
  }
}
