import ChangeTracker
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium

// What a session of the replica would do.

extension SimulatedReplica {
  private func local() async throws -> LocalStanding {
    let id = id
    return try await reading { sides in
      try LocalStanding(sides, try ReplicaStanding.read(sides) ?? ReplicaStanding(replica: id))
    }
  }

  /// Begins anew with the next connection.
  func beginAnew(asAnother: Bool) async throws {
    let replica = asAnother ? rename() : nil
    forget()
    try await store.integrate { write in
      var changes = try RemoteChanges(write)
      try changes.beginAnew(as: replica)
      try changes.finish()
    }
  }

  /// Says that it is there, and learns how far the server is and how it gets there.
  private func bind(_ server: MemoryServerStore, _ path: StorePath) async throws -> (Standing, LocalStanding, Bound.Mode) {
    func asked() async throws(ServerStoreError) -> Standing {
      try await server.bind(path, id, secret: [UInt8(truncatingIfNeeded: id.rawValue)], user: "ann", at: time.now())
    }
    var standing: Standing
    do throws(ServerStoreError) { standing = try await asked() } catch {
      guard error.code == .replicaExpired else { throw error }
      try await beginAnew(asAnother: true)
      standing = try await asked()
    }
    var local = try await local()
    if local.isForked(judged: standing.judged, stamp: standing.judgedStamp) {
      try await beginAnew(asAnother: true)
      (standing, local) = (try await asked(), try await self.local())
    }
    func mode() -> Bound.Mode { standing.mode(cursor: local.cursor, history: local.history, pendingBase: local.pendingBase) }
    if mode() == .reset {
      try await beginAnew(asAnother: true)
      (standing, local) = (try await asked(), try await self.local())
    }
    return (standing, local, mode())
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
    let (standing, local, mode) = try await bind(server, path)
    switch mode {
    case .resume:
      let page = try await server.changes(path, for: id, after: local.cursor, limitBytes: limitBytes)
      if isLost { return mode }
      try await take(page, standing)
    case .delta, .snapshot:
      var pages: [StatePage] = []
      let start = mode == .snapshot ? .zero : local.cursor
      repeat {
        let last = pages.last?.objects.last?.identity
        pages.append(try await server.objects(path, changedAfter: start, behind: last, limitBytes: limitBytes))
        try await between()
      } while pages.last?.isLast == false
      if isLost { return mode }
      try await take(pages, standing, mode)
    case .reset, .rest: throw Divergence("replica \(id) was told to begin anew, again")
    }
    isBound = true
    try store.refresh()
    try await acknowledge(server, path)
    return mode
  }

  private func take(_ page: LogPage, _ standing: Standing) async throws {
    let (offset, fault) = (-skew, fault)
    let isStill = fault == .clockStandsStill
    try await store.integrate { write in
      var changes = try RemoteChanges(write)
      changes.standing.history = standing.history
      changes.standing.clock.offset = offset
      let clock = changes.standing.clock
      for entry in page.entries { if let entry = fault.map({ $0.entry(entry) }) ?? entry { try changes.take(entry) } }
      if isStill { changes.standing.clock = clock }
      try changes.finish(at: page.cursor)
    }
  }

  private func take(_ pages: [StatePage], _ standing: Standing, _ mode: Bound.Mode) async throws {
    for page in pages { for object in page.objects { highest = max(highest, object.state.record.lastSeq) } }
    let bound = Bound(
      mode: mode, rights: [.read, .write], history: standing.history, head: standing.head, stable: standing.stable,
      judged: standing.judged, judgedStamp: standing.judgedStamp, refusal: standing.refusal, refused: standing.refused, schemaHash: 0,
      credit: 0)
    let (offset, fault, wall) = (-skew, fault, time.now() + skew)
    let taken = pages.map { page in fault?.page(page) ?? page }
    try await store.integrate { write in
      var changes = try RemoteChanges(write)
      changes.standing.history = standing.history
      changes.standing.clock.offset = offset
      try changes.take(taken, bound, isAll: mode == .snapshot, wall: wall)
      try changes.finish()
    }
  }

  /// Says how far it is.
  private func acknowledge(_ server: MemoryServerStore, _ path: StorePath) async throws {
    let bearing = try await bearing()
    let state = Acknowledgement(
      cursor: bearing.cursor, pendingBase: bearing.pending.baseSeq(integrated: bearing.cursor),
      refusalSeen: fault == .refusalsUnreported ? .zero : bearing.standing?.refusalSeen ?? .zero)
    try await server.acknowledge(path, id, state, at: time.now())
  }

  /// What goes up: voids for what must not come.
  func uploads() async throws -> (uploads: [Upload], refusalSeen: Seq) {
    let bearing = try await bearing()
    let uploads = bearing.pending.all.map { pending -> Upload in
      let changeset = pending.changeset
      if !pending.isVoid { return .changeset(changeset) }
      return .void(clientSeq: changeset.clientSeq, objects: changeset.objects.sorted())
    }
    return (uploads, fault == .refusalsUnreported ? .zero : bearing.standing?.refusalSeen ?? .zero)
  }
}
