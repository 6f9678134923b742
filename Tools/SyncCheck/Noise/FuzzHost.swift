#if Sync
import SyncModel
import SyncProtocol
import SyncServer

/// What answers connections that get noise: users and rights, and a few stores in memory, one call after the other.
struct FuzzHost {
  /// Its clock, in milliseconds since 1970, which stands still.
  static let now: Int64 = 1_000_000_000
  static let user = "ann"
  /// The paths of its stores, as clients write them.
  static let paths = ["/~/a", "/shared/b", "/shared/read"]

  private var logs: [StorePath: ServerLog] = [:]
  /// The last upload of each replica that was judged.
  private var judged: [StorePath: [ReplicaID: UInt64]] = [:]
  /// How many sessions were bound, and how many changes were committed.
  private(set) var bound = 0
  private(set) var taken = 0

  init() {}

  /// Begins anew, with empty stores.
  mutating func renew(_ random: inout SplitMix) {
    (logs, judged) = ([:], [:])
    for asked in FuzzHost.paths {
      guard let path = place(asked) else { continue }
      logs[path] = ServerLog(history: random.bytes(16))
    }
  }

  /// Does what a server's program does once an hour.
  ///
  /// - Parameter replicas: forgets all replicas as well.
  mutating func forget(replicas: Bool) {
    for path in logs.keys.sorted() {
      guard let purge = logs[path]?.purge(expiry: replicas ? .max : .min) else { continue }
      logs[path]?.truncate(through: purge.stable)
    }
  }

  // MARK: what clients know

  private func place(_ asked: String) -> StorePath? {
    StorePath(asked.hasPrefix("/~/") ? "/\(FuzzHost.user)/\(asked.dropFirst(3))" : asked)
  }

  /// The last entry and the history of a store.
  func store(_ asked: String) -> (head: Seq, history: [UInt8]) {
    guard let path = place(asked), let log = logs[path] else { return (.zero, []) }
    return (log.head, log.history)
  }

  func head(_ path: StorePath) -> Seq { logs[path]?.head ?? .zero }

  func state(_ path: StorePath) -> MemoryState { logs[path]?.state ?? MemoryState() }

  /// The last upload of a replica that was judged; 0 for none.
  func lastJudged(of replica: ReplicaID, in path: StorePath) -> UInt64 { judged[path]?[replica] ?? 0 }

  // MARK: answers

  /// The answer to an effect; nil if it needs none.
  mutating func answer(_ effect: ServerConnectionEffect) -> ServerConnectionEvent? {
    switch effect {
    case .verify(let token):
      guard StorePath.isPart(token) else { return .verified(.failure(SyncRefusal(.tokenInvalid))) }
      return .verified(.success(SyncIdentity(user: token)))
    case .bind(let key, let path, let bind, let identity): return .bound(key, standing(path, bind, identity))
    case .commit(let key, let place, let uploads, let seen, let mayWrite):
      return .committed(key, commit(place, uploads, refusalSeen: seen, mayWrite: mayWrite))
    case .declare(let key, let path, let schema):
      return .declared(key, call(path) { log throws(ServerStoreError) in try log.declare(schema) })
    case .acknowledge(let key, let place, let state):
      return .acknowledged(
        key, call(place.path) { log throws(ServerStoreError) in try log.acknowledge(place.replica, state, at: FuzzHost.now) })
    case .readEntries(let key, let place, let seq, let limit):
      return .entries(
        key,
        call(place.path) { log throws(ServerStoreError) in try log.changes(for: place.replica, after: seq, limitBytes: limit) })
    case .readObjects(let key, let path, let history, let seq, let last, let limit):
      return .objects(
        key, call(path) { log throws(ServerStoreError) in
          try log.objects(of: history, changedAfter: seq, behind: last, limitBytes: limit)
        })
    case .readHead(let key, let path, let mark): return .head(key, mark: mark, .success(head(path)))
    case .send, .close, .wake, .unbind: return nil
    }
  }

  private mutating func standing(
    _ path: StorePath, _ bind: Bind, _ identity: SyncIdentity
  ) -> Result<(StoreGrant, Standing), SyncRefusal> {
    let result = call(path) { log throws(ServerStoreError) in
      try log.bind(bind.replica, secret: bind.secret, user: identity.user, at: FuzzHost.now)
    }
    switch result {
    case .failure(let error): return .failure(SyncRefusal(error))
    case .success(let standing):
      bound += 1
      // In one store half of the replicas may only read.
      let mayWrite = path.text != "/shared/read" || bind.replica.rawValue % 2 == 1
      return .success((mayWrite ? StoreGrant.all : StoreGrant([.read]), standing))
    }
  }

  private mutating func commit(
    _ place: ReplicaOfStore, _ uploads: [Upload], refusalSeen: Seq, mayWrite: Bool
  ) -> Result<[UploadOutcome], ServerStoreError> {
    let result = call(place.path) { log throws(ServerStoreError) in
      try log.commit(place.replica, uploads, refusalSeen: refusalSeen, at: FuzzHost.now) { transaction in
        mayWrite ? FuzzHost.verdict(on: transaction) : Verdict(.writeDenied)
      }
    }
    guard case .success(let outcomes) = result else { return result }
    for (upload, outcome) in zip(uploads, outcomes) {
      switch outcome {
      case .accepted: taken += 1
      case .refused: break
      case .duplicate, .behindRefusal, .gap, .skewed, .incomplete, .forked: continue
      }
      let last = lastJudged(of: place.replica, in: place.path)
      judged[place.path, default: [:]][place.replica] = max(last, upload.clientSeq)
    }
    return result
  }

  /// Looks at all that a rule can look at, and refuses a few.
  private static func verdict(on transaction: UploadCase) -> Verdict? {
    for object in transaction.objects { _ = (transaction.before(object), transaction.after(object)) }
    return transaction.objects.contains { $0.className == Name("Locked") } ? Verdict(.invalidChange, "It is locked.") : nil
  }

  private mutating func call<R>(
    _ path: StorePath, _ body: (inout ServerLog) throws(ServerStoreError) -> R
  ) -> Result<R, ServerStoreError> {
    // Held twice, it would be copied when it changes.
    guard var log = logs.removeValue(forKey: path) else {
      return .failure(ServerStoreError(.unknownStore, "There is no store at \(path)."))
    }
    defer { logs[path] = log }
    do throws(ServerStoreError) { return .success(try body(&log)) } catch { return .failure(error) }
  }
}
#endif
