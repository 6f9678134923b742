#if Sync
import SyncModel
import SyncProtocol
import SyncServer

/// One call that reads a store in one snapshot.
struct StoreReading {
  private let link: PostgresLink
  private let store: Int64
  private let path: StorePath
  private static let rowsAtOnce: Int64 = 1_024

  init(_ link: PostgresLink, _ store: Int64, _ path: StorePath) { (self.link, self.store, self.path) = (link, store, path) }

  private func frame(planning: PostgresStatement? = nil) throws(PostgresFailure) -> ServerLog {
    let statements = [
      PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
      PostgresStatement("SELECT history, head, log_start, latest, stable, floor FROM sync_store WHERE id = $1", .int(store)),
    ]
    let rows = try link.query(all: statements + (planning.map { [$0] } ?? []))[1]
    guard rows.count == 1 else { throw PostgresFailure(ServerStoreError(.unknownStore, "There is no store at \(path).")) }
    return try StoreTransaction.log(rows)
  }

  /// Reads pages for several replicas that go on behind the same entry. Each entry is read and decoded once, for all of them.
  func changes(for askers: [(replica: ReplicaID, limitBytes: Int)], after seq: Seq) throws(PostgresFailure) -> [LogPage] {
    let log = try frame()
    do throws(ServerStoreError) { try log.checkStart(seq) } catch { throw PostgresFailure(error) }
    var pagers = askers.map { LogPager(for: $0.replica, of: log, after: seq, limitBytes: $0.limitBytes) }
    var (open, last) = (Array(pagers.indices), min(seq, log.head))
    while !open.isEmpty, last < log.head {
      // Reads no more than fits the largest page, however long entries are.
      let limit = open.map { askers[$0].limitBytes }.max() ?? 0
      let rows = try link.query(
        """
        SELECT seq, body FROM (SELECT seq, body, length(body) AS bytes, sum(length(body)) OVER (ORDER BY seq) AS total
        FROM sync_entry WHERE store = $1 AND seq > $2 AND seq <= $3) AS entries WHERE total - bytes <= $4 ORDER BY seq
        """, .int(store), .int(last), .int(min(log.head, Seq(last.rawValue + UInt64(StoreReading.rowsAtOnce)))), .int(Int64(limit)))
      guard rows.count > 0 else { throw PostgresFailure(.damaged, "The log lacks what follows entry \(last)") }
      for row in 0..<rows.count where !open.isEmpty {
        let (seq, bytes) = (try rows.seq(row, 0), try rows.bytes(row, 1))
        let entry = try reading("Entry \(seq)") { () throws(CodingError) in try ServerLog.Entry(row: bytes, seq).keepingEncoded() }
        open.removeAll { !pagers[$0].take(entry, seq) }
        last = seq
      }
    }
    try link.run("COMMIT")
    return pagers.map(\.page)
  }

  func past(at seq: Seq) throws(PostgresFailure) -> StorePast {
    var log = try frame()
    do throws(ServerStoreError) { try log.checkStart(seq) } catch { throw PostgresFailure(error) }
    guard seq < log.head else {
      try link.run("COMMIT")
      return StorePast(asOf: seq, states: [:])
    }
    try log.readCheckpoint(before: Seq(seq.rawValue + 1), store, link)
    let start = log.start(for: seq)
    do throws(ServerStoreError) { try log.checkStart(start) } catch { throw PostgresFailure(error) }
    var (gatherer, last) = (BeforeGatherer(), start)
    while last < log.head {
      let rows = try link.query(
        "SELECT seq, kind, before FROM sync_entry WHERE store = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT 256", .int(store),
        .int(last), .int(log.head))
      guard rows.count > 0 else { throw PostgresFailure(.damaged, "The log lacks what follows entry \(last)") }
      for row in 0..<rows.count {
        let (number, isChangeset) = (try rows.seq(row, 0), try rows.int(row, 1) == ServerLog.Entry.changesetKind)
        let bytes = rows.isNull(row, 2) ? nil : try rows.bytes(row, 2)
        let before = try reading("What was before entry \(number)") { () throws(CodingError) in
          try bytes.map { bytes throws(CodingError) in try ObjectBefore.decode(bytes) }
        }
        do throws(ServerStoreError) { try gatherer.take(before, isChangeset: isChangeset) } catch { throw PostgresFailure(error) }
        last = number
      }
    }
    try link.run("COMMIT")
    return StorePast(asOf: start, states: gatherer.states)
  }

  func objects(
    of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) throws(PostgresFailure) -> StatePage {
    // The first page of all objects reads them in their order; a delta finds those that changed by the other index, if they are few.
    let log = try frame(planning: seq == .zero ? nil : link.planningEachUse)
    do throws(ServerStoreError) { try log.check(history) } catch { throw PostgresFailure(error) }
    var page = StatePage(
      asOf: log.head, stable: log.purged.stable, floor: log.purged.floor, latest: log.latest, objects: [], next: [], isLast: true)
    var (key, bytes) = (last.map { ObjectKeyBytes.bytes(of: $0) } ?? [], 0)
    reading: while seq == .zero || seq < log.head {
      let rows = try link.query(
        """
        SELECT has_pieces, body, object FROM (SELECT has_pieces, body, object, length(body) AS bytes,
        sum(length(body)) OVER (ORDER BY object) AS total FROM (SELECT has_pieces, body, object FROM sync_object
        WHERE store = $1 AND object > $2 AND last_seq > $3 ORDER BY object LIMIT $4) AS following) AS objects
        WHERE total - bytes <= $5 ORDER BY object
        """, .int(store), .bytes(key), .int(seq == .zero ? -1 : Int64(bitPattern: seq.rawValue)), .int(StoreReading.rowsAtOnce),
        .int(Int64(limitBytes)))
      guard rows.count > 0 else { break }
      key = try rows.bytes(rows.count - 1, 2)
      for row in try ObjectRows.read(rows, hasPiecesAt: 0, bodyAt: 1, store, link) {
        let state = row.wholeState
        let count = 32 + state.encoded().count
        if bytes > 0, bytes + count > limitBytes {
          page.isLast = false
          break reading
        }
        page.objects.append(StatePage.Object(row.object, state))
        bytes += count
      }
    }
    try link.run("COMMIT")
    return page
  }
}

extension ServerLog {
  /// Reads which checkpoint is the last before an entry.
  mutating func readCheckpoint(before seq: Seq, _ store: Int64, _ link: PostgresLink) throws(PostgresFailure) {
    let rows = try link.query("SELECT checkpoint FROM sync_entry WHERE store = $1 AND seq = $2", .int(store), .int(seq))
    if rows.count == 1, !rows.isNull(0, 0) { checkpoints[Seq(seq.rawValue - 1)] = try rows.seq(0, 0) }
  }
}

extension StoreTransaction {
  /// Reads all handlers of the store, and from where on they need the log.
  func readAllHandlers() throws(PostgresFailure) {
    try readHandlers(
      try link.query("SELECT name, position, author, fence, lease_end FROM sync_handler WHERE store = $1", .int(store)))
    if log.handlers.isEmpty { return }
    try log.readCheckpoint(before: Seq(log.lowestCursor.rawValue + 1), store, link)
  }

  /// Applies a function of `ServerLog` to the loaded part of the log.
  func apply<R>(_ body: (inout ServerLog) throws(ServerStoreError) -> R) throws(PostgresFailure) -> R {
    do throws(ServerStoreError) { return try body(&log) } catch { throw PostgresFailure(error) }
  }

  /// Has the statements that follow planned for their parameters, because these say how much is read.
  func planEachUse() throws(PostgresFailure) {
    if let planning = link.planningEachUse { _ = try link.query(all: [planning]) }
  }

  /// Removes entries that no handler needs, whole transactions only. Stamps stay until a purge covers them.
  func truncate(through seq: Seq) throws(PostgresFailure) {
    try planEachUse()
    try readAllHandlers()
    let rows = try link.query(
      "SELECT seq FROM sync_entry WHERE store = $1 AND seq > $2 AND seq <= $3 AND NOT is_continued ORDER BY seq DESC LIMIT 1",
      .int(store), .int(log.logStart), .int(log.removable(through: seq)))
    guard rows.count == 1 else { return }
    let last = try rows.seq(0, 0)
    _ = try link.query(
      """
      INSERT INTO sync_stamp(store, seq, stamp)
      SELECT store, seq, stamp FROM sync_entry WHERE store = $1 AND seq > $2 AND seq <= $3 AND stamp IS NOT NULL
      """, .int(store), .int(max(log.logStart, log.purged.stable)), .int(last))
    _ = try link.query("DELETE FROM sync_entry WHERE store = $1 AND seq <= $2", .int(store), .int(last))
    log.logStart = last
  }
}
#endif
