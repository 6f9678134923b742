import ChangeTracker
import StorageInterface
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization
import Vivarium
import VivariumTestSupport

/// What a simulation found wrong.
public struct Divergence: Error, CustomStringConvertible {
  /// What differs, and where.
  public let description: String

  init(_ description: String) { self.description = description }
}

/// What everybody's clock would show if it were right.
final class SimulatedTime: Sendable {
  private let time: Mutex<Int64>

  init(_ start: Int64 = 1_700_000_000_000) { time = Mutex(start) }

  /// It goes on a little each time it is asked.
  func now() -> Int64 {
    time.withLock { time in
      time += 3
      return time
    }
  }

  func pass(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// The clock of a device, which may be wrong.
final class SimulatedClock: Sendable {
  private let time: SimulatedTime
  private let state: Mutex<Int64>

  init(_ time: SimulatedTime, ahead: Int64) {
    self.time = time
    state = Mutex(ahead)
  }

  /// Milliseconds.
  var ahead: Int64 { state.withLock { $0 } }
  func setAhead(_ ahead: Int64) { state.withLock { $0 = ahead } }
  func now() -> Int64 { time.now() + ahead }
}

/// A replicated store that is edited through the public interface, and what its session with a server would do.
@MainActor final class SimulatedReplica {
  /// Who it is: another one after it was copied, or was away for too long.
  private(set) var id: ReplicaID
  /// The last number that it had.
  private var last: UInt64
  private var opened: Store?
  private var configuration: Store.Configuration
  let time: SimulatedTime
  /// The device's clock.
  private let clock: SimulatedClock
  /// A rule that it breaks.
  let fault: PlantedFault?
  private(set) var cursor = Seq.zero
  /// The highest entry that is in any object that came in a page.
  var highest = Seq.zero
  /// Whether the server's history is the one that the file follows, as it knows itself.
  var isBound = false

  init(
    _ id: UInt64, _ given: Store.Configuration, time: SimulatedTime, skew: Int64 = 0, fault: PlantedFault? = nil,
    existing: SyncConfiguration.ExistingObjects = .refuse
  ) throws {
    self.id = ReplicaID(id)
    last = id
    self.time = time
    let clock = SimulatedClock(time, ahead: skew)
    self.clock = clock
    self.fault = fault
    var configuration = given
    var sync = SyncConfiguration(existing: existing)
    sync.replica = self.id
    sync.wallClock = { clock.now() }
    configuration.replicate(sync)
    self.configuration = configuration
    opened = try Store(configuration)
  }

  var store: Store {
    get throws {
      guard let opened else { throw Divergence("replica \(id) is closed") }
      return opened
    }
  }

  /// The process ends, and begins again with what is in the file.
  func restart() throws {
    opened = nil
    opened = try Store(configuration)
  }

  /// Milliseconds that the device's clock is ahead.
  var skew: Int64 { clock.ahead }

  /// What the device's clock shows.
  var wall: Int64 { clock.now() }

  func setClock(ahead: Int64) { clock.setAhead(ahead) }

  /// Does something while the file is closed, and opens what it gives.
  func reopen(_ body: () throws -> Store.Configuration?) async throws {
    opened = nil
    if let other = try body() {
      (configuration.backend, isBound, cursor, highest) = (other.backend, false, .zero, .zero)
    }
    opened = try Store(configuration)
    // A file that was restored may be who it was once, and its objects ahead of its cursor as they were then.
    let (was, highest) = try await reading { sides in
      (try ReplicaStanding.read(sides)?.replica, try FileState(sides).copied().records.values.map(\.lastSeq).max() ?? .zero)
    }
    (id, self.highest) = (was ?? id, max(highest, self.highest))
  }

  /// It is somebody else from now on.
  func rename() -> ReplicaID {
    last += 100
    id = ReplicaID(last)
    return id
  }

  /// What came before counts no more.
  func forget() { (cursor, highest, isBound) = (.zero, .zero, false) }

  // MARK: looking

  /// How far a file is.
  struct Bearing: Sendable {
    let pending: PendingChangesets
    let cursor: Seq
    let standing: ReplicaStanding?
    /// Everybody has forgotten what was done up to this stamp.
    let floor: Stamp

    init(_ sides: any SideWriting) throws {
      pending = try Outbox.pending(sides)
      cursor = try SyncCursor.read(sides)
      standing = try ReplicaStanding.read(sides)
      floor = try FileState(sides).floor
    }
  }

  /// What a file is at one moment.
  struct Look: Sendable {
    /// What is shown.
    let file: Picture
    /// What the merge state shows.
    let merged: Picture
    let bearing: Bearing
  }

  func reading<T: Sendable>(_ body: @escaping @Sendable (any SideWriting) throws -> T) async throws -> T {
    try await store.integrate { write in
      guard let sides = write.transaction.writePowers.sides else { throw Divergence("no side entries") }
      return try body(sides)
    }
  }

  /// The first pages of those that the file has put aside.
  func stagedPages(_ count: Int) async throws -> [StatePage] {
    if count == 0 { return [] }
    return try await reading { sides in
      var pages: [StatePage] = []
      for number in 0..<count { pages.append(try StagedPages.page(number, sides)) }
      return pages
    }
  }

  func bearing() async throws -> Bearing { try await reading { sides in try Bearing(sides) } }

  func look() async throws -> Look {
    let id = id
    return try await reading { sides in
      let own = try ReplicaStanding.read(sides)?.replica ?? id
      return Look(
        file: try Picture(sides, own: own), merged: Picture(try FileState(sides).copied()), bearing: try Bearing(sides))
    }
  }

  /// Throws where the merge state does not show what the file does.
  @discardableResult func check(_ what: String = "") async throws -> Look {
    let look = try await look()
    if look.file != look.merged { throw Divergence("\(what), replica \(id): \(look.file.difference(from: look.merged))") }
    if look.bearing.cursor < cursor { throw Divergence("\(what), replica \(id): the cursor went back") }
    cursor = look.bearing.cursor
    return look
  }
}
