#if Sync
import SyncModel
import SyncProtocol
import SyncServer
import Synchronization

/// A server's stores in a PostgreSQL database. Several servers may use it at once, and each may serve every store.
///
/// ```swift
/// let stores = try await PostgresServerStore("postgresql:///vivarium?host=/run/postgresql", makesTables: true)
/// ```
///
/// Changes survive a crash of the server and of the database when a call returns; only acknowledgements of replicas may be lost with the
/// database, and are repeated. No store is in memory as a whole: a call reads and writes the rows that it names.
/// **Threads.** Any task may call. Blocking calls run on threads of their own, one per connection.
/// **Errors.** `.unavailable` if the database cannot be reached for some seconds, refuses, or has tables of a newer build.
public actor PostgresServerStore: SyncServerStore {
  /// The options of the store.
  public struct Configuration: Sendable {
    /// The maximal number of connections for calls; two more are for news.
    public var connections = 8
    /// The maximal number of changes of one store that share a transaction.
    public var batch = 128
    /// Whether to use LISTEN and NOTIFY for news. Databases that speak PostgreSQL's protocol without these are only polled.
    public var usesNotices = true
    /// The interval at which the last entries of stores in use are polled.
    public var pollMilliseconds = 1_000

    /// Creates the default options.
    public init() {}
  }

  let pool: PostgresPool
  nonisolated let logReader: LogReader
  let news: StoreNews
  private let configuration: Configuration
  private var queues: [StorePath: StoreQueue] = [:]
  /// The numbers of the stores in use, and their last entries when those were looked up. Not the actor's, so that a read of a log, which
  /// each session makes for each change, need not wait for its turn.
  private let numbers = Mutex<[StorePath: (number: Int64, head: Seq)]>([:])

  /// Opens the stores of a database.
  ///
  /// - Parameters:
  ///   - address: an address in libpq's form: "postgresql://user@host/database", or "host=… dbname=…".
  ///   - makesTables: whether to create missing tables.
  public init(
    _ address: String, makesTables: Bool = false, configuration: Configuration = Configuration()
  ) async throws(ServerStoreError) {
    self.configuration = configuration
    pool = PostgresPool(address: address, limit: configuration.connections)
    logReader = LogReader(pool: pool)
    news = StoreNews(
      address: address, usesNotices: configuration.usesNotices,
      pollMilliseconds: configuration.usesNotices ? configuration.pollMilliseconds : min(configuration.pollMilliseconds, 50))
    try await read { link throws(PostgresFailure) in
      if makesTables { try PostgresSchema.make(link) }
      try PostgresSchema.check(link)
    }
  }

  /// Closes all connections once their transactions are done. Must be called before the last reference goes.
  public func close() async {
    await news.end()
    await pool.end()
  }

  private func read<R: Sendable>(
    _ body: @escaping @Sendable (PostgresLink) throws(PostgresFailure) -> R
  ) async throws(ServerStoreError) -> R {
    do throws(PostgresFailure) { return try await pool.transaction(body) } catch { throw error.error }
  }

  // MARK: stores

  public func makeStore(_ path: StorePath) async throws(ServerStoreError) {
    let history = (0..<16).map { _ in UInt8.random(in: 0...255) }
    let isMade = try await read { link throws(PostgresFailure) in
      // Until this is committed, no handler's name goes: who removes a handler takes out its name, and then looks for its stores.
      let cursors = try link.query(all: [
        PostgresStatement("BEGIN"),
        PostgresStatement("SELECT id FROM sync_store WHERE path = $1 FOR SHARE", .text(HandlerNames.path.text)),
        PostgresStatement(
          "SELECT name FROM sync_handler WHERE store = (SELECT id FROM sync_store WHERE path = $1)", .text(HandlerNames.path.text)),
      ])[2]
      var known: Set<String> = []
      for row in 0..<cursors.count { known.insert(try cursors.text(row, 0)) }
      let answers = try link.query(all: [
        // Store ids are random: a sequence would be one more thing to restore.
        PostgresStatement(
          """
          WITH made AS (INSERT INTO sync_store(id, path, history, head, log_start, latest, stable, floor)
          VALUES ($1, $2, $3, 0, 0, $4, 0, $4) ON CONFLICT (path) DO NOTHING RETURNING id)
          INSERT INTO sync_handler(store, name, position, author, fence, lease_end)
          SELECT made.id, wanted.name, 0, 0, 0, $5::int8 FROM made CROSS JOIN unnest($6::text[]) AS wanted(name)
          """, .int(.random(in: 1 ... .max)), .text(path.text), .bytes(history), .bytes(Stamp.zero.orderedBytes), .int(Int64.min),
          .texts(Array(HandlerNames.handlers(of: path, in: known)))),
        // It is there already where the answer to the first attempt was lost.
        PostgresStatement("SELECT id FROM sync_store WHERE path = $1 AND history = $2", .text(path.text), .bytes(history)),
        PostgresStatement("COMMIT"),
      ])
      return answers[1].count == 1
    }
    guard isMade else { throw ServerStoreError(.storeExists, "There is a store at \(path) already.") }
  }

  public func stores() async throws(ServerStoreError) -> [StorePath] {
    let texts = try await read { link throws(PostgresFailure) in
      let rows = try link.query("SELECT path FROM sync_store")
      var texts: [String] = []
      for row in 0..<rows.count { texts.append(try rows.text(row, 0)) }
      return texts
    }
    return texts.compactMap { StorePath($0) }.sorted()
  }

  public func removeStore(_ path: StorePath) async throws(ServerStoreError) {
    // The stores that an attempt was made to remove: its answer may be lost, and the next one finds nothing.
    let tried = Mutex<Set<Int64>>([])
    let removed = try await reading(path, .care) { link, number throws(PostgresFailure) in
      let isFirst = tried.withLock { $0.insert(number).inserted }
      let rest = ["entry", "stamp", "object", "piece", "link", "replica", "handler"]
      let answers = try link.query(
        all: [PostgresStatement("BEGIN"), PostgresStatement("DELETE FROM sync_store WHERE id = $1 RETURNING id", .int(number))]
          + rest.map { PostgresStatement("DELETE FROM sync_\($0) WHERE store = $1", .int(number)) } + [PostgresStatement("COMMIT")])
      // Another server may have removed it since the number was looked up.
      guard answers[1].count == 1 || !isFirst else {
        throw PostgresFailure(ServerStoreError(.unknownStore, "There is no store at \(path)."))
      }
      return number
    }
    forget(path, removed)
    await news.tellRemoval(of: path, removed)
  }

  /// Gives a store a new history, after the database was restored from a copy. Every device begins anew: it takes the store's objects as
  /// they are, and redoes only what the server had not acknowledged. What was acknowledged after the copy was made is lost.
  public func renewHistory(_ path: StorePath) async throws(ServerStoreError) {
    try await change(path, StoreRowsNeeded(), .care) { transaction throws(PostgresFailure) in try transaction.renewHistory() }
  }

  private nonisolated func known(_ path: StorePath) -> Int64? { numbers.withLock { $0[path]?.number } }

  /// The paths of which something is in memory. For tests.
  var used: Set<StorePath> { Set(queues.keys).union(numbers.withLock { Array($0.keys) }) }

  /// Forgets the number of a store that is gone, if the path does not have another by now.
  private func forget(_ path: StorePath, _ number: Int64) {
    let isForgotten = numbers.withLock { numbers in
      guard numbers[path]?.number == number else { return false }
      numbers[path] = nil
      return true
    }
    if isForgotten { queues[path] = nil }
  }

  private func number(_ path: StorePath, _ use: Use = .working) async throws(ServerStoreError) -> Int64 {
    try await found(path, use).number
  }

  private func found(_ path: StorePath, _ use: Use) async throws(ServerStoreError) -> (number: Int64, head: Seq) {
    if let found = numbers.withLock({ $0[path] }) { return found }
    let found = try await read { link throws(PostgresFailure) -> (Int64, Seq)? in
      let rows = try link.query("SELECT id, head FROM sync_store WHERE path = $1", .text(path.text))
      return rows.count == 1 ? (try rows.int(0, 0), try rows.seq(0, 1)) : nil
    }
    guard let (number, head) = found else { throw ServerStoreError(.unknownStore, "There is no store at \(path).") }
    // Who follows it may only have looked so far, and waits for what comes.
    let isWaitedFor = await news.watch(path, number, head)
    let isKept =
      switch use {
      case .binding, .claiming: true
      // What an ended session has asked for comes after it, and nothing would take it out of the memory again.
      case .working: isWaitedFor
      case .care: false
      }
    if isKept { numbers.withLock { $0[path] = (number, head) } }
    return (number, head)
  }

  /// Says which store is at a path to those who wait for its news.
  private func watch(_ path: StorePath, isClaimed: Bool) async throws(ServerStoreError) {
    let (number, head) = try await found(path, isClaimed ? .claiming : .binding)
    await news.watch(path, number, head, isClaimed: isClaimed)
  }

  /// Performs a call with a store's number. A store that is gone may have been removed and made anew by another server: it is looked up
  /// once more.
  private nonisolated func finding<R: Sendable>(
    _ path: StorePath, _ body: @Sendable () async throws(ServerStoreError) -> R
  ) async throws(ServerStoreError) -> R {
    let known = known(path)
    do throws(ServerStoreError) { return try await body() } catch {
      guard error.code == .unknownStore, let known else { throw error }
      await forget(path, known)
    }
    return try await body()
  }

  /// What a call is for. It says whether the store's number, and the queue of its changes, stay in memory.
  enum Use {
    /// A session or a handler begins: they stay until nobody waits for news of the store.
    case binding, claiming
    /// What a session or handler does then: they stay if somebody waits for news still.
    case working
    /// What is done to any store, whoever uses it: nothing of it stays.
    case care
  }

  private func change<R: Sendable>(
    _ path: StorePath, _ needs: StoreRowsNeeded, _ use: Use = .working, isDurable: Bool = true,
    _ body: @escaping AskedChange<R>.Body
  ) async throws(ServerStoreError) -> R {
    try await finding(path) { () throws(ServerStoreError) in
      switch use {
      case .binding: try await watch(path, isClaimed: false)
      case .claiming: try await watch(path, isClaimed: true)
      case .working, .care: break
      }
      return try await queue(path, use).change(needs, isDurable: isDurable, isAlone: use == .care, body)
    }
  }

  private func reading<R: Sendable>(
    _ path: StorePath, _ use: Use = .working, _ body: @escaping @Sendable (PostgresLink, Int64) throws(PostgresFailure) -> R
  ) async throws(ServerStoreError) -> R {
    try await finding(path) { () throws(ServerStoreError) in
      let number = try await number(path, use)
      return try await read { link throws(PostgresFailure) in try body(link, number) }
    }
  }

  func queue(_ path: StorePath, _ use: Use = .working) async throws(ServerStoreError) -> StoreQueue {
    let number = try await number(path, use)
    if let queue = queues[path], queue.store == number { return queue }
    // Transactions of one store follow each other by the lock of its row, whatever queue they come from.
    let queue = StoreQueue(path: path, store: number, pool: pool, news: news, batch: configuration.batch)
    if use != .care, known(path) == number { queues[path] = queue }
    return queue
  }

  public func follow(_ path: StorePath) async {
    await news.follow(path)
    // Where there is no store, or no database, the next one to bind looks it up.
    guard let found = numbers.withLock({ $0[path] }) else { return }
    await news.watch(path, found.number, found.head)
  }

  public func unfollow(_ path: StorePath) async {
    guard await news.unfollow(path), let number = known(path) else { return }
    forget(path, number)
  }

  // MARK: changes

  public func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    try await change(path, StoreRowsNeeded(replica), .binding) { transaction throws(PostgresFailure) in
      let isNew = transaction.log.replicas[replica] == nil
      let others = try isNew && limit < .max ? transaction.replicaCount(of: user) : 0
      if others >= limit, let spared { try transaction.readLongestAbsent(of: user, besides: spared) }
      return try transaction.apply { log throws(ServerStoreError) in
        try log.bind(replica, secret: secret, user: user, limit: limit, others: others, sparing: spared, at: time)
      }
    }
  }

  /// O(the store), within the database.
  public func size(of path: StorePath) async throws(ServerStoreError) -> Int {
    try await reading(path, .care) { link, number throws(PostgresFailure) in
      let parts = ["entry", "object", "piece"].map { "(SELECT coalesce(sum(octet_length(body)), 0) FROM sync_\($0) WHERE store = $1)" }
      return Int(try link.query("SELECT (\(parts.joined(separator: " + ")))::int8", .int(number)).int(0, 0))
    }
  }

  public func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome] {
    try await change(path, StoreRowsNeeded(replica, uploads)) { transaction throws(PostgresFailure) in
      try transaction.apply { log throws(ServerStoreError) in
        try log.commit(replica, uploads, refusalSeen: refusalSeen, at: time, judge: judge)
      }
    }
  }

  public func declare(_ path: StorePath, _ schema: SyncSchema) async throws(ServerStoreError) -> SyncSchema {
    try await change(path, .schema) { transaction throws(PostgresFailure) in
      try transaction.apply { log throws(ServerStoreError) in try log.declare(schema) }
    }
  }

  public func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError) {
    try await change(path, StoreRowsNeeded(replica), isDurable: false) { transaction throws(PostgresFailure) in
      try transaction.apply { log throws(ServerStoreError) in try log.acknowledge(replica, state, at: time) }
    }
  }

  public func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge? {
    try await change(path, StoreRowsNeeded(), .care) { transaction throws(PostgresFailure) in
      try transaction.purge(expiry: expiry)
    }
  }

  public func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError) {
    try await change(path, StoreRowsNeeded(), .care) { transaction throws(PostgresFailure) in
      try transaction.truncate(through: seq)
    }
  }

  public func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    try await change(path, StoreRowsNeeded(handler: handler), .claiming) { transaction throws(PostgresFailure) in
      try transaction.apply { log throws(ServerStoreError) in
        try log.claim(handler, heldIn: history, fromStart: fromStart, until: end, at: time)
      }
    }
  }

  public func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    try await change(path, StoreRowsNeeded(handler: lease.handler)) { transaction throws(PostgresFailure) in
      try transaction.apply { log throws(ServerStoreError) in try log.renew(lease, until: end, at: time) }
    }
  }

  public func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError) {
    try await change(path, StoreRowsNeeded(handler: name)) { transaction throws(PostgresFailure) in
      transaction.log.removeHandler(name)
    }
  }

  public func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    try await change(path, StoreRowsNeeded(handler: lease.handler, writing: changesets)) { transaction throws(PostgresFailure) in
      try transaction.apply { log throws(ServerStoreError) in try log.advance(lease, to: cursor, writing: changesets, at: time) }
    }
  }

  // MARK: reading

  public nonisolated func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    try await finding(path) { () throws(ServerStoreError) in
      let number = if let known = known(path) { known } else { try await number(path) }
      return try await logReader.changes(path, number, for: replica, after: seq, limitBytes: limitBytes)
    }
  }

  public func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await reading(path) { link, number throws(PostgresFailure) in
      try StoreReading(link, number, path).objects(of: history, changedAfter: seq, behind: last, limitBytes: limitBytes)
    }
  }

  public func past(_ path: StorePath, at seq: Seq) async throws(ServerStoreError) -> StorePast {
    try await reading(path) { link, number throws(PostgresFailure) in try StoreReading(link, number, path).past(at: seq) }
  }

  public func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding] {
    try await reading(path, .care) { link, number throws(PostgresFailure) in
      let rows = try link.query("SELECT name, position, lease_end FROM sync_handler WHERE store = $1", .int(number))
      var handlers: [String: HandlerStanding] = [:]
      for row in 0..<rows.count {
        handlers[try rows.text(row, 0)] = HandlerStanding(cursor: try rows.seq(row, 1), leaseEnd: try rows.int(row, 2))
      }
      return handlers
    }
  }

  public func heads(_ paths: [StorePath]) async throws(ServerStoreError) -> [StorePath: Seq] {
    let found = try await read { link throws(PostgresFailure) in
      let rows = try link.query("SELECT path, head FROM sync_store WHERE path = ANY($1)", .texts(paths.map(\.text)))
      var heads: [String: Seq] = [:]
      for row in 0..<rows.count { heads[try rows.text(row, 0)] = try rows.seq(row, 1) }
      return heads
    }
    return paths.reduce(into: [:]) { heads, path in heads[path] = found[path.text] }
  }

  public func wakeups() async -> AsyncStream<StorePath> { await news.wakeups() }
}
#endif
