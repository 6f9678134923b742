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

/// A replicated store that is edited through the public interface, and what its session with a server would do.
@MainActor final class SimulatedReplica {
  let id: ReplicaID
  private var opened: Store?
  private let configuration: Store.Configuration
  private let time: SimulatedTime
  /// Milliseconds that the device's clock is ahead.
  let skew: Int64
  /// A rule that it breaks.
  let fault: PlantedFault?
  private(set) var cursor = Seq.zero
  /// The highest entry that is in any object that came in a page.
  private(set) var highest = Seq.zero

  init(
    _ id: UInt64, _ given: Store.Configuration, time: SimulatedTime, skew: Int64 = 0, fault: PlantedFault? = nil,
    existing: SyncConfiguration.ExistingObjects = .refuse
  ) throws {
    self.id = ReplicaID(id)
    self.time = time
    self.skew = skew
    self.fault = fault
    var configuration = given
    var sync = SyncConfiguration(existing: existing)
    sync.replica = self.id
    sync.wallClock = { time.now() + skew }
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

  // MARK: looking

  /// What a file is at one moment.
  struct Look: Sendable {
    /// What is shown.
    let file: Picture
    /// What the merge state shows.
    let merged: Picture
    let pending: PendingChangesets
    let cursor: Seq
    let standing: ReplicaStanding?
  }

  func look() async throws -> Look {
    let id = id
    return try await store.integrate { write in
      guard let sides = write.transaction.sideWriting else { throw Divergence("no side entries") }
      return Look(
        file: try Picture(sides, own: id), merged: Picture(try FileState(sides).copied()), pending: try Outbox.pending(sides),
        cursor: try SyncCursor.read(sides), standing: try ReplicaStanding.read(sides))
    }
  }

  /// Throws where the merge state does not show what the file does.
  @discardableResult func check(_ what: String = "") async throws -> Look {
    let look = try await look()
    if look.file != look.merged { throw Divergence("\(what), replica \(id): \(look.file.difference(from: look.merged))") }
    if look.cursor < cursor { throw Divergence("\(what), replica \(id): the cursor went back") }
    cursor = look.cursor
    return look
  }

  // MARK: what a session does

  /// Says that it is there, and learns how far the server is.
  private func bind(_ server: MemoryServerStore, _ path: StorePath) async throws -> Standing {
    try await server.bind(path, id, secret: [UInt8(truncatingIfNeeded: id.rawValue)], user: "ann", at: time.now())
  }

  /// Gets from where it is towards the head of the log.
  ///
  /// - Parameters:
  ///   - limitBytes: of a message.
  ///   - isLost: whether the answer gets lost on the way.
  ///   - between: what happens while objects are on their way.
  func download(
    _ server: MemoryServerStore, _ path: StorePath, limitBytes: Int, isLost: Bool, between: () async throws -> Void = {}
  ) async throws -> Bound.Mode {
    let standing = try await bind(server, path)
    let look = try await look()
    let history = look.standing?.history ?? []
    let mode = standing.mode(cursor: look.cursor, history: history)
    let (offset, fault) = (-skew, fault)
    let isStill = fault == .clockStandsStill
    switch mode {
    case .resume:
      let page = try await server.changes(path, for: id, after: look.cursor, limitBytes: limitBytes)
      if isLost { return mode }
      try await store.integrate { write in
        var changes = try RemoteChanges(write)
        changes.standing.history = standing.history
        changes.standing.clock.offset = offset
        let clock = changes.standing.clock
        for entry in page.entries { if let entry = fault.map({ $0.entry(entry) }) ?? entry { try changes.take(entry) } }
        if isStill { changes.standing.clock = clock }
        try changes.finish(at: page.cursor)
      }
    case .delta, .snapshot:
      var pages: [StatePage] = []
      let start = mode == .snapshot ? .zero : look.cursor
      repeat {
        let last = pages.last?.objects.last?.identity
        pages.append(try await server.objects(path, changedAfter: start, behind: last, limitBytes: limitBytes))
        try await between()
      } while pages.last?.isLast == false
      if isLost { return mode }
      for page in pages { for object in page.objects { highest = max(highest, object.state.record.lastSeq) } }
      let bound = Bound(
        mode: mode, rights: [.read, .write], history: standing.history, head: standing.head, stable: standing.stable,
        judged: standing.judged, judgedStamp: standing.judgedStamp, refusal: standing.refusal, refused: standing.refused, schemaHash: 0,
        credit: 0)
      let taken = pages.map { page in fault?.page(page) ?? page }
      try await store.integrate { write in
        var changes = try RemoteChanges(write)
        changes.standing.history = standing.history
        changes.standing.clock.offset = offset
        try changes.take(taken, bound, isAll: mode == .snapshot)
        try changes.finish()
      }
    case .reset: throw Divergence("replica \(id) was told to begin anew")
    }
    try store.refresh()
    try await acknowledge(server, path)
    return mode
  }

  /// Says how far it is.
  func acknowledge(_ server: MemoryServerStore, _ path: StorePath) async throws {
    let look = try await look()
    let state = Acknowledgement(
      cursor: look.cursor, pendingBase: look.pending.baseSeq(integrated: look.cursor),
      refusalSeen: look.standing?.refusalSeen ?? .zero)
    try await server.acknowledge(path, id, state, at: time.now())
  }

  /// What goes up: voids for what must not come.
  func uploads() async throws -> (uploads: [Upload], refusalSeen: Seq) {
    let look = try await look()
    let uploads = look.pending.all.map { pending -> Upload in
      let changeset = pending.changeset
      if !pending.isVoid { return .changeset(changeset) }
      return .void(clientSeq: changeset.clientSeq, objects: changeset.objects.sorted())
    }
    return (uploads, fault == .refusalsUnreported ? .zero : look.standing?.refusalSeen ?? .zero)
  }
}
