import SyncModel
import SyncProtocol
import SyncServer
import VivariumTestSupport

/// Replicas that edit, upload, resend, are refused, fall behind the log and come back: all are equal in the end, or it throws.
public struct RandomHistory {
  private let servers: [any SyncServerStore]
  private let steps: Int
  private var path: StorePath { Bench.path }

  /// A history of one store.
  ///
  /// - Parameter servers: of which any may be asked anything, as they share what they keep.
  public init(servers: [any SyncServerStore], steps: Int = 150) { (self.servers, self.steps) = (servers, steps) }

  private func some(_ random: inout SeededGenerator) -> any SyncServerStore { servers[random.below(servers.count)] }

  private func failure(_ text: String) -> ServerStoreFailure { ServerStoreFailure(description: text) }

  /// Makes the store, and lets replicas live with it until they rest.
  public func run(_ random: inout SeededGenerator) async throws {
    try await some(&random).makeStore(path)
    var replicas = (1...3).map { TestReplica(ReplicaID(UInt64($0))) }
    var time: Int64 = 1_000_000
    var handler = try await HandlerShadow(some(&random), path)
    for _ in 0..<steps {
      time += Int64(random.below(50))
      let index = random.below(replicas.count)
      try await handler.look(some(&random))
      switch random.below(14) {
      case 0..<5:
        // What is done before a replica knows the store has no place in its history: it is dated when it joins.
        try await bindIfNew(&replicas[index], some(&random), at: time)
        try replicas[index].edit(at: time, &random)
      case 5..<8: try await upload(&replicas[index], some(&random), at: time, refusedOneIn: 8, &random)
      case 8..<10: try await download(&replicas[index], some(&random), at: time, limitBytes: 1 + random.below(600))
      case 10: try await handler.advance(some(&random), by: random.below(12))
      case 11: try await handler.check(some(&random), ahead: random.below(12))
      case 12: _ = try await some(&random).purge(path, expiry: 0)
      default: try await some(&random).truncateLog(path, through: Seq(UInt64(random.below(200))))
      }
    }
    for _ in 0..<200 where replicas.contains(where: { !$0.pending.isEmpty }) {
      for index in replicas.indices {
        try await download(&replicas[index], some(&random), at: time, limitBytes: 10_000)
        try await upload(&replicas[index], some(&random), at: time, refusedOneIn: 0, &random)
      }
    }
    for index in replicas.indices { try await download(&replicas[index], some(&random), at: time, limitBytes: 10_000) }
    try await handler.look(some(&random))
    try await handler.check(some(&random), ahead: 0)
    let final = try await some(&random).objects(path, changedAfter: .zero, behind: nil, limitBytes: 1 << 30)
    let server = RandomHistory.state(of: final)
    for replica in replicas {
      if !replica.pending.isEmpty { throw failure("\(replica.id) still waits") }
      for object in TestReplica.objects {
        let (there, here) = (RandomHistory.shown(object, replica.state), RandomHistory.shown(object, server))
        if there != here { throw failure("\(object) of \(replica.id) is \(there ?? []), the server's \(here ?? [])") }
      }
    }
  }

  /// The state of a page that has all objects.
  static func state(of page: StatePage) -> MemoryState {
    var state = MemoryState()
    state.setFloor(page.floor)
    let states = page.objects.map { ($0.identity, Optional($0.state)) }
    _ = Merge.take(Dictionary(uniqueKeysWithValues: states), under: PendingChangesets(), in: &state)
    return state
  }

  /// What an object shows, without what only merging needs: a link that leads nowhere is none.
  static func shown(_ object: ObjectIdentity, _ state: MemoryState) -> [String]? {
    guard let record = state.record(of: object), record.isAlive else { return nil }
    let values = record.node.contents.values.map { entry in
      if case .link(let link) = entry.value.visible, !Merge.resolves(link, in: state) { return "\(entry.key): null" }
      return "\(entry.key): \(entry.value.visible)"
    }
    return values + (record.node.contents.sets["tags"]?.members.filter { !$0.value.isErased }.map { "\($0.value.value)" } ?? [])
  }

  private func upload(
    _ replica: inout TestReplica, _ stores: any SyncServerStore, at time: Int64, refusedOneIn: Int,
    _ random: inout SeededGenerator
  ) async throws {
    try await bindIfNew(&replica, stores, at: time)
    let uploads = replica.uploads
    let refusesAll = random.oneIn(refusedOneIn)
    for _ in 0...random.below(2) {
      let outcomes = try await stores.commit(path, replica.id, uploads, refusalSeen: replica.refusalSeen, at: time) { _ in
        refusesAll ? Verdict(.writeDenied) : nil
      }
      for outcome in outcomes {
        switch outcome {
        case .skewed, .incomplete, .forked: throw failure("\(outcome)")
        default: break
        }
      }
    }
  }

  private func bindIfNew(
    _ replica: inout TestReplica, _ stores: any SyncServerStore, at time: Int64
  ) async throws {
    guard replica.history.isEmpty else { return }
    let standing = try await stores.bind(path, replica.id, secret: [1], user: "ann", at: time)
    let mode = standing.mode(
      cursor: replica.cursor, history: replica.history, pendingBase: replica.acknowledgement.pendingBase)
    replica.history = standing.history
    if mode == .snapshot { try await takePages(&replica, stores, standing, isAll: true) }
  }

  private func download(
    _ replica: inout TestReplica, _ stores: any SyncServerStore, at time: Int64, limitBytes: Int
  ) async throws {
    try await bindIfNew(&replica, stores, at: time)
    let standing = try await stores.bind(path, replica.id, secret: [1], user: "ann", at: time)
    switch standing.mode(
      cursor: replica.cursor, history: replica.history, pendingBase: replica.acknowledgement.pendingBase) {
    case .resume:
      let page = try await stores.changes(path, for: replica.id, after: replica.cursor, limitBytes: limitBytes)
      for entry in page.entries { replica.integrate(entry) }
      replica.cursor = page.cursor
    case .delta: try await takePages(&replica, stores, standing, isAll: false)
    case .snapshot: try await takePages(&replica, stores, standing, isAll: true)
    case .reset, .rest: throw failure("a reset")
    }
    try await stores.acknowledge(path, replica.id, replica.acknowledgement, at: time)
  }

  private func takePages(
    _ replica: inout TestReplica, _ stores: any SyncServerStore, _ standing: Standing, isAll: Bool
  ) async throws {
    var pages: [StatePage] = []
    repeat {
      pages.append(
        try await stores.objects(
          path, changedAfter: isAll ? .zero : replica.cursor, behind: pages.last?.objects.last?.identity, limitBytes: 100))
    } while pages.last?.isLast == false
    replica.take(pages, standing, isAll: isAll)
  }
}
