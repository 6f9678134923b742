#if Sync
import SyncModel
import SyncProtocol
import SyncServer

/// One transaction that changes a store: reads the rows that calls need, as a part of the store's log, and writes the touched ones.
///
/// It begins by locking the store's row until the end. So transactions of one store are serialized over all processes, and entries of the
/// log become visible in order.
final class StoreTransaction {
  let link: PostgresLink
  let store: Int64
  var log: ServerLog
  /// The stored objects; nil for one that is not stored.
  var kept: [ObjectIdentity: ObjectRow?] = [:]
  /// The replicas that were read, and their users.
  private var keptReplicas: [ReplicaID: String]
  private let before: (head: Seq, logStart: Seq, purged: Purge, latest: Stamp)

  /// Begins a transaction.
  init(
    _ link: PostgresLink, store: Int64, path: StorePath, needs: StoreRowsNeeded, isDurable: Bool
  ) throws(PostgresFailure) {
    (self.link, self.store) = (link, store)
    let answers = try link.query(all: StoreTransaction.opening(store, needs, isDurable: isDurable))
    guard answers.count == 6, answers[2].count == 1 else {
      throw PostgresFailure(ServerStoreError(.unknownStore, "There is no store at \(path)."))
    }
    log = try StoreTransaction.log(answers[2])
    // Another process may have upgraded the tables, and keep in them what this one would not.
    guard try answers[2].int(0, 11) == PostgresSchema.version else {
      throw PostgresFailure(ServerStoreError(.unavailable, "A newer build has upgraded the tables: take it for this server too."))
    }
    log.isHandled = try answers[2].bool(0, 6)
    let types = try answers[2].bytes(0, 7)
    if !types.isEmpty {
      log.schema = try reading("The types of \(path)") { () throws(CodingError) in try SyncSchema(decoding: types) }
    }
    if !answers[2].isNull(0, 8) {
      log.checkpoint = Checkpoint(
        at: try answers[2].seq(0, 8), keptBytes: Int(try answers[2].int(0, 9)), entryBytes: Int(try answers[2].int(0, 10)))
    }
    before = (log.head, log.logStart, log.purged, log.latest)
    try StoreTransaction.readReplicas(answers[3], &log)
    keptReplicas = log.replicas.mapValues(\.user)
    try readHandlers(answers[4])
    try take(objects: answers[5], wanted: needs.objects)
  }

  /// The first reads of a transaction, sent in one round trip. Rows are looked up key by key (LATERAL, and OFFSET 0, which keeps it from
  /// becoming a join), so that no plan, however old, reads all rows of a store.
  private static func opening(_ store: Int64, _ needs: StoreRowsNeeded, isDurable: Bool) -> [PostgresStatement] {
    let handlers = PostgresValue.texts(Array(needs.handlers))
    return [
      PostgresStatement("BEGIN"),
      // A crash may lose what replicas repeat anyway.
      PostgresStatement(isDurable ? "SET LOCAL synchronous_commit = 'on'" : "SET LOCAL synchronous_commit = 'off'"),
      PostgresStatement(
        """
        SELECT history, head, log_start, latest, stable, floor, EXISTS(SELECT 1 FROM sync_handler WHERE store = $1),
        \(needs.schema ? "coalesce(types, '')" : "''::bytea"), checkpoint, kept_bytes, entry_bytes,
        (SELECT version FROM sync_version WHERE id = 1)
        FROM sync_store WHERE id = $1 FOR UPDATE
        """, .int(store)),
      PostgresStatement(
        """
        SELECT found.replica, is_expired, body
        FROM unnest($2::int8[] || ARRAY(SELECT author FROM sync_handler WHERE store = $1 AND name = ANY($3))) AS wanted(replica)
        CROSS JOIN LATERAL (SELECT replica, is_expired, body FROM sync_replica WHERE store = $1 AND replica = wanted.replica OFFSET 0)
        AS found
        """, .int(store), .ints(needs.replicas.map { Int64(bitPattern: $0.rawValue) }), handlers),
      PostgresStatement(
        "SELECT name, position, author, fence, lease_end FROM sync_handler WHERE store = $1 AND name = ANY($2)", .int(store), handlers),
      PostgresStatement(
        """
        SELECT has_pieces, body, kept_since FROM unnest($2::bytea[]) AS wanted(object)
        CROSS JOIN LATERAL
        (SELECT has_pieces, body, kept_since FROM sync_object WHERE store = $1 AND object = wanted.object OFFSET 0) AS found
        """, .int(store), .byteLists(needs.objects.map { ObjectKeyBytes.bytes(of: $0) })),
    ]
  }

  /// Creates a log, without rows, from the store's row.
  static func log(_ rows: PostgresRows, at row: Int = 0) throws(PostgresFailure) -> ServerLog {
    ServerLog(
      history: try rows.bytes(row, 0), logStart: try rows.seq(row, 2), head: try rows.seq(row, 1), latest: try rows.stamp(row, 3),
      purged: Purge(stable: try rows.seq(row, 4), floor: try rows.stamp(row, 5)))
  }

  static func readReplicas(_ rows: PostgresRows, _ log: inout ServerLog) throws(PostgresFailure) {
    for row in 0..<rows.count {
      let id = ReplicaID(UInt64(bitPattern: try rows.int(row, 0)))
      if try rows.bool(row, 1) {
        log.expired.insert(id)
        continue
      }
      let body = try rows.bytes(row, 2)
      log.replicas[id] = try reading("Replica \(id)") { () throws(CodingError) in
        var reader = ByteReader(body)
        let replica = try ServerLog.Replica(&reader)
        try reader.end()
        return replica
      }
    }
  }

  func readHandlers(_ rows: PostgresRows) throws(PostgresFailure) {
    for row in 0..<rows.count {
      var handler = ServerLog.Handler(cursor: try rows.seq(row, 1))
      let author = UInt64(bitPattern: try rows.int(row, 2))
      handler.author = author == 0 ? nil : ReplicaID(author)
      handler.fence = UInt64(bitPattern: try rows.int(row, 3))
      handler.leaseEnd = try rows.int(row, 4)
      log.handlers[try rows.text(row, 0)] = handler
    }
  }

  /// The condition for a user's replicas at a store. As the index `sync_replica_user` has it: a store may have many of others.
  static let devicesOfUser = "store = $1 AND usr = $2 AND NOT is_expired AND replica >= 0"

  /// How many replicas a user has at the store, without those that were given up or forgotten, and those of handlers: they have the
  /// highest bit.
  func replicaCount(of user: String) throws(PostgresFailure) -> Int {
    let rows = try link.query(
      "SELECT count(*) FROM sync_replica WHERE \(StoreTransaction.devicesOfUser)", .int(store), .text(user))
    // Some may be bound, given up or forgotten by this transaction, and not be written yet.
    let new = log.touched.replicas.count { log.replicas[$0]?.user == user && keptReplicas[$0] == nil }
    let gone = log.touched.replicas.count { keptReplicas[$0] == user && log.replicas[$0]?.user != user }
    return Int(try rows.int(0, 0)) + new - gone
  }

  /// Reads the replica of a user that was not seen for the longest time, besides some, of those that were not read before.
  func readLongestAbsent(of user: String, besides spared: Set<ReplicaID>) throws(PostgresFailure) {
    let known = Array(spared.union(keptReplicas.keys).union(log.touched.replicas))
    let rows = try link.query(
      """
      SELECT replica, is_expired, body FROM sync_replica
      WHERE \(StoreTransaction.devicesOfUser) AND replica <> ALL($3) ORDER BY seen_at, replica LIMIT 1
      """, .int(store), .text(user), .ints(known.map { Int64(bitPattern: $0.rawValue) }))
    let before = Set(log.replicas.keys)
    try StoreTransaction.readReplicas(rows, &log)
    for (id, replica) in log.replicas where !before.contains(id) { keptReplicas[id] = replica.user }
  }

  // MARK: committing

  /// Writes the changes and commits.
  func commit() throws(PostgresFailure) {
    var changes = try changes()
    if let first = changes.firstIndex(where: \.isDeletion), let planning = link.planningEachUse { changes.insert(planning, at: first) }
    _ = try link.query(all: changes + [PostgresStatement("COMMIT")])
  }

  /// The statements that write the touched rows.
  func changes() throws(PostgresFailure) -> [PostgresStatement] {
    var statements = entryChanges() + objectChanges() + replicaChanges()
    if log.touched.handlers { statements += handlerChanges() }
    if log.touched.schema {
      statements.append(
        PostgresStatement("UPDATE sync_store SET types = $2 WHERE id = $1", .int(store), .bytes(log.schema.encoded)))
    }
    if log.head != before.head || log.logStart != before.logStart || log.purged != before.purged || log.latest != before.latest {
      statements.append(
        PostgresStatement(
          """
          UPDATE sync_store SET head = $2, log_start = $3, latest = $4, stable = $5, floor = $6,
          checkpoint = nullif($7::int8, -1), kept_bytes = $8, entry_bytes = $9 WHERE id = $1
          """, .int(store), .int(log.head), .int(log.logStart), .bytes(log.latest.orderedBytes), .int(log.purged.stable),
          .bytes(log.purged.floor.orderedBytes), .int(log.checkpoint.map { Int64(bitPattern: $0.seq.rawValue) } ?? -1),
          .int(Int64(log.checkpoint?.keptBytes ?? 0)), .int(Int64(log.checkpoint?.entryBytes ?? 0))))
    }
    if let start = log.touched.forgottenFrom { statements += forgettingChanges(from: start) }
    return statements
  }

  private func entryChanges() -> [PostgresStatement] {
    let entries = log.numberedEntries
    if entries.isEmpty { return [] }
    let stamps = Dictionary(log.stamps.map { ($0.seq, $0.stamp) }) { first, _ in first }
    return [
      PostgresStatement(
        """
        INSERT INTO sync_entry(store, seq, kind, replica, is_continued, stamp, body, before, checkpoint)
        SELECT $1, seq, kind, replica, is_continued, stamp, body, before, nullif(checkpoint, -1)
        FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::bool[], $6::bytea[], $7::bytea[], $8::bytea[], $9::int8[])
        AS entries(seq, kind, replica, is_continued, stamp, body, before, checkpoint)
        """, .int(store), .ints(entries.map { Int64(bitPattern: $0.seq.rawValue) }), .ints(entries.map { $0.entry.kind }),
        .ints(entries.map { Int64(bitPattern: $0.entry.replica.rawValue) }), .bools(entries.map { $0.entry.isContinued }),
        .byteLists(entries.map { stamps[$0.seq]?.orderedBytes }), .byteLists(entries.map { $0.entry.row($0.seq) }),
        .byteLists(entries.map { $0.entry.before.map(ObjectBefore.encoded) }),
        .ints(entries.map { $0.entry.checkpoint.map { Int64(bitPattern: $0.rawValue) } ?? -1 }))
    ]
  }

  private func replicaChanges() -> [PostgresStatement] {
    // One that comes back must be told that it was forgotten. A handler's that writes no more does not come back.
    let gone = log.touched.replicas.filter { log.replicas[$0] == nil && !log.touched.expired.contains($0) }
    let removal = PostgresStatement(
      "DELETE FROM sync_replica WHERE store = $1 AND replica = ANY($2)", .int(store), .ints(gone.map { Int64(bitPattern: $0.rawValue) }))
    let ids = Array(log.touched.replicas.subtracting(gone))
    if ids.isEmpty { return gone.isEmpty ? [] : [removal] }
    let replicas = ids.map { log.replicas[$0] }
    return (gone.isEmpty ? [] : [removal]) + [
      PostgresStatement(
        """
        INSERT INTO sync_replica(store, replica, usr, seen_at, pending_base, is_expired, body)
        SELECT $1, * FROM unnest($2::int8[], $3::text[], $4::int8[], $5::int8[], $6::bool[], $7::bytea[])
        ON CONFLICT (store, replica) DO UPDATE SET usr = excluded.usr, seen_at = excluded.seen_at,
        pending_base = excluded.pending_base, is_expired = excluded.is_expired, body = excluded.body
        """, .int(store), .ints(ids.map { Int64(bitPattern: $0.rawValue) }), .texts(replicas.map { $0?.user ?? "" }),
        .ints(replicas.map { $0?.seenAt ?? 0 }), .ints(replicas.map { Int64(bitPattern: $0?.pendingBase.rawValue ?? 0) }),
        .bools(replicas.map { $0 == nil }), .byteLists(replicas.map { $0?.row ?? [] }))
    ]
  }

  private func handlerChanges() -> [PostgresStatement] {
    let all = Array(log.handlers)
    let removed = log.touched.removedHandlers
    let removal =
      removed.isEmpty
      ? [] : [PostgresStatement("DELETE FROM sync_handler WHERE store = $1 AND name = ANY($2)", .int(store), .texts(Array(removed)))]
    return removal + [
      PostgresStatement(
        """
        INSERT INTO sync_handler(store, name, position, author, fence, lease_end)
        SELECT $1, * FROM unnest($2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
        ON CONFLICT (store, name) DO UPDATE SET position = excluded.position, author = excluded.author, fence = excluded.fence,
        lease_end = excluded.lease_end
        """, .int(store), .texts(all.map(\.key)), .ints(all.map { Int64(bitPattern: $0.value.cursor.rawValue) }),
        .ints(all.map { Int64(bitPattern: $0.value.author?.rawValue ?? 0) }), .ints(all.map { Int64(bitPattern: $0.value.fence) }),
        .ints(all.map(\.value.leaseEnd)))
    ]
  }

  /// Forgets how objects were before entries with which no handler begins any more, behind the place from which one has moved on: all up to
  /// the last checkpoint that is not behind the lowest cursor. Once all handlers have all entries, the next one is a new beginning. After
  /// the head and the cursors are written.
  private func forgettingChanges(from start: Seq) -> [PostgresStatement] {
    let lowest = "(SELECT coalesce((SELECT min(position) FROM sync_handler WHERE store = $1), head) FROM sync_store WHERE id = $1)"
    return [
      PostgresStatement(
        """
        UPDATE sync_entry SET before = NULL, checkpoint = NULL WHERE store = $1 AND (before IS NOT NULL OR checkpoint IS NOT NULL)
        AND seq > (SELECT coalesce((SELECT checkpoint FROM sync_entry WHERE store = $1 AND seq = $2::int8 + 1), $2::int8))
        AND seq <= (SELECT coalesce((SELECT checkpoint FROM sync_entry WHERE store = $1 AND seq = lowest + 1), lowest)
        FROM (SELECT \(lowest) AS lowest) AS handlers)
        """, .int(store), .int(start)),
      PostgresStatement(
        "UPDATE sync_store SET checkpoint = NULL WHERE id = $1 AND checkpoint IS NOT NULL AND head <= \(lowest)", .int(store)),
    ]
  }
}

extension PostgresValue {
  static func int(_ seq: Seq) -> PostgresValue { .int(Int64(bitPattern: seq.rawValue)) }
}

extension PostgresRows {
  func seq(_ row: Int, _ column: Int) throws(PostgresFailure) -> Seq { Seq(UInt64(bitPattern: try int(row, column))) }

  func stamp(_ row: Int, _ column: Int) throws(PostgresFailure) -> Stamp {
    let bytes = try self.bytes(row, column)
    guard bytes.count == 16 else { throw PostgresFailure(.damaged, "A stamp is not of 16 bytes") }
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return Stamp(time: number(bytes[..<8]), replica: ReplicaID(number(bytes[8...])))
  }
}

extension Stamp {
  /// Sixteen bytes that sort as stamps do.
  var orderedBytes: [UInt8] {
    var bytes: [UInt8] = []
    PostgresValue.put(time, &bytes)
    PostgresValue.put(replica.rawValue, &bytes)
    return bytes
  }
}

extension ServerLog.Entry {
  static let changesetKind: Int64 = 1

  /// A code, also for people who query the table: 1 a changeset, 3 a refusal, 4 a purge.
  var kind: Int64 {
    switch body {
    case .changeset: ServerLog.Entry.changesetKind
    case .refusal: 3
    case .purge: 4
    }
  }

  /// The author; 0 for the server's own entries.
  var replica: ReplicaID {
    switch body {
    case .changeset(let changeset, _): changeset.author
    case .refusal(let replica, _, _, _): replica
    case .purge: ReplicaID(0)
    }
  }
}
#endif
