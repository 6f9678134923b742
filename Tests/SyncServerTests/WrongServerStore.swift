import SyncModel
import SyncProtocol
import SyncServer

/// A store with one planted fault: what the rules must not let pass.
struct WrongServerStore: SyncServerStore {
  enum Fault: CaseIterable, Sendable {
    case bindsAnybody, asksNoJudge, judgesOneByOne, looksPastRefusals, believesAnyClock, answersInPart
    case hidesOwnMarkers, cutsTransactions, losesTheHead, unorderedObjects, hidesTheDead, forgetsTheLimit
    case forgetsEverything, forgetsNothing, sinksTheFloor, keepsWhoIsAway, truncatesNothing, truncatesForHandlers
    case sharesLeases, ignoresFences, dropsWhatHandlersWrite, refusesRepetitions, makesStoresTwice
    case tellsTheHeadForThePast, renewsNothing, keepsHandlers, hidesLeases
    case removesNothing, removesSilently, hidesTheHistory, givesNewStoresNoHandlers
    case declaresNothing, believesAnyDeclaration
    case takesAnyHistory, makesHandlersAnew, bindsAnyNumber, sparesNobody, sparesEverybody, hasNoSize, takesForksForRepetitions
  }

  let fault: Fault?
  /// Comes before each read of entries for a replica.
  var beforeChanges: @Sendable (ReplicaID) async -> Void = { _ in }
  /// Hears of each call of `follow` (1) and `unfollow` (-1).
  var follows: @Sendable (StorePath, Int) -> Void = { _, _ in }
  let base = MemoryServerStore()

  func makeStore(_ path: StorePath) async throws(ServerStoreError) {
    do { try await base.makeStore(path) } catch { if fault != .makesStoresTwice { throw error } }
    guard fault == .givesNewStoresNoHandlers else { return }
    for name in try await base.handlers(path).keys { try await base.removeHandler(path, name) }
  }

  func removeStore(_ path: StorePath) async throws(ServerStoreError) {
    if fault != .removesNothing { try await base.removeStore(path) }
  }

  func stores() async -> [StorePath] { await base.stores() }

  func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    if fault == .bindsAnybody { return try await base.bind(path, replica, secret: [], user: "", at: time) }
    let limit = fault == .bindsAnyNumber ? .max : limit
    let spared = fault == .sparesNobody ? [] : fault == .sparesEverybody ? nil : spared
    return try await base.bind(path, replica, secret: secret, user: user, limit: limit, sparing: spared, at: time)
  }

  func declare(_ path: StorePath, _ schema: SyncSchema) async throws(ServerStoreError) -> SyncSchema {
    switch fault {
    case .declaresNothing: return try await base.declare(path, SyncSchema())
    case .believesAnyDeclaration:
      do throws(ServerStoreError) { return try await base.declare(path, schema) } catch { return schema }
    default: return try await base.declare(path, schema)
    }
  }

  func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome] {
    let seen = fault == .looksPastRefusals ? .pending : refusalSeen
    var judge = judge
    if fault == .asksNoJudge { judge = { _ in nil } }
    let time = fault == .believesAnyClock ? Int64.max / 2 : time
    guard fault == .judgesOneByOne else {
      var outcomes = try await base.commit(path, replica, uploads, refusalSeen: seen, at: time, judge: judge)
      if fault == .takesForksForRepetitions { outcomes = outcomes.map { $0 == .forked ? .duplicate : $0 } }
      return fault == .answersInPart ? Array(outcomes.prefix(1)) : outcomes
    }
    var outcomes: [UploadOutcome] = []
    for upload in uploads {
      outcomes += try await base.commit(path, replica, [upload], refusalSeen: seen, at: time, judge: judge)
    }
    return outcomes
  }

  func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    await beforeChanges(replica)
    let limit = fault == .forgetsTheLimit ? 0 : limitBytes
    var page = try await base.changes(path, for: replica, after: seq, limitBytes: limit)
    if fault == .hidesOwnMarkers { page.entries.removeAll { if case .own = $0.body { true } else { false } } }
    if fault == .cutsTransactions, page.entries.count > 1, limitBytes < 10 {
      page.entries = Array(page.entries.prefix(1))
      page.cursor = page.entries[0].seq
    }
    if fault == .hidesTheHistory { page.history = [] }
    if fault == .losesTheHead { page.head = page.cursor }
    return page
  }

  func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    let history = fault == .takesAnyHistory ? nil : history
    var page = try await base.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limitBytes)
    if fault == .unorderedObjects { page.objects.reverse() }
    if fault == .hidesTheDead { page.objects.removeAll { !$0.state.record.isAlive } }
    return page
  }

  func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError) {
    var state = state
    if fault == .forgetsEverything { state.pendingBase = state.cursor }
    try await base.acknowledge(path, replica, state, at: time)
  }

  func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge? {
    if fault == .forgetsNothing { return nil }
    let purge = try await base.purge(path, expiry: fault == .keepsWhoIsAway ? 0 : expiry)
    return fault == .sinksTheFloor ? purge.map { Purge(stable: $0.stable, floor: .zero) } : purge
  }

  func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError) {
    if fault == .truncatesNothing { return }
    try await base.truncateLog(path, through: seq)
  }

  func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    let end = fault == .sharesLeases ? time : end
    // A handler that begins at the head needs nothing of the log.
    let isStart = fault == .truncatesForHandlers ? false : fromStart
    let history = fault == .makesHandlersAnew ? nil : history
    return try await base.claim(path, handler: handler, heldIn: history, fromStart: isStart, until: end, at: time)
  }

  func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    if fault == .renewsNothing { return }
    try await base.renew(path, lease, until: end, at: time)
  }

  func past(_ path: StorePath, at seq: Seq) async throws(ServerStoreError) -> StorePast {
    let past = try await base.past(path, at: seq)
    guard fault == .tellsTheHeadForThePast else { return past }
    let head = try await base.objects(path, changedAfter: .zero, behind: nil, limitBytes: .max).objects
    return StorePast(asOf: past.asOf, states: past.states.mapValues { _ in head.first?.state })
  }

  func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding] {
    var handlers = try await base.handlers(path)
    if fault == .hidesLeases { for name in handlers.keys { handlers[name]?.leaseEnd = .min } }
    return handlers
  }

  func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError) {
    if fault != .keepsHandlers { try await base.removeHandler(path, name) }
  }

  func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    if fault == .dropsWhatHandlersWrite {
      return try await base.advance(path, lease, to: cursor, writing: [], at: time)
    }
    do throws(ServerStoreError) {
      let entries = try await base.advance(path, lease, to: cursor, writing: changesets, at: time)
      if fault == .refusesRepetitions, entries.count < changesets.count { throw ServerStoreError(.writesRefused, "It is there.") }
      return entries
    } catch {
      if fault == .ignoresFences { return [] }
      throw error
    }
  }

  func size(of path: StorePath) async throws(ServerStoreError) -> Int {
    if fault == .hasNoSize { return 0 }
    return try await base.size(of: path)
  }

  func follow(_ path: StorePath) async { follows(path, 1) }

  func unfollow(_ path: StorePath) async { follows(path, -1) }

  func heads(_ paths: [StorePath]) async -> [StorePath: Seq] { await base.heads(paths) }

  func wakeups() async -> AsyncStream<StorePath> {
    if fault == .removesSilently {
      let (silent, continuation) = AsyncStream.makeStream(of: StorePath.self)
      continuation.finish()
      return silent
    }
    return await base.wakeups()
  }
}
