#if Sync
import SyncModel
import SyncServer

extension StoreTransaction {
  /// The number of objects purged together.
  private static let purgeChunk: Int64 = 1_000

  /// Forgets what no operation to come can conflict with, in chunks of objects.
  func purge(expiry: Int64) throws(PostgresFailure) -> Purge? {
    let before = log.purged.stable
    try planEachUse()
    try readAllReplicas()
    try readAllHandlers()
    guard var stable = log.expire(before: expiry) else { return nil }
    try holdBack(&stable)
    guard stable > before else { return nil }
    log.stamps = [(stable, try highestStamp(after: before, through: stable))]
    log.note(stable)
    _ = try link.query("DELETE FROM sync_stamp WHERE store = $1 AND seq <= $2", .int(store), .int(stable))
    // Earlier builds left the replicas of handlers that write no more.
    _ = try link.query("DELETE FROM sync_replica WHERE store = $1 AND replica < 0 AND is_expired", .int(store))
    // Objects unchanged since the last purge have nothing more to forget.
    var (last, forgotten): ([UInt8], [ObjectBefore]) = ([], [])
    while true {
      let rows = try link.query(
        """
        SELECT has_pieces, body, object FROM sync_object WHERE store = $1 AND object > $2 AND last_seq > $3
        ORDER BY object LIMIT $4
        """, .int(store), .bytes(last), .int(before), .int(StoreTransaction.purgeChunk))
      guard rows.count > 0 else { break }
      last = try rows.bytes(rows.count - 1, 2)
      forgotten += try forget(try ObjectRows.read(rows, hasPiecesAt: 0, bodyAt: 1, store, link))
    }
    log.keep(forgotten.sorted { $0.object < $1.object })
    return log.purged
  }

  /// Has the entries that some handler has not passed hold back a purge, until it would forget nothing. O(those entries).
  private func holdBack(_ stable: inout Seq) throws(PostgresFailure) {
    var last = log.heldFrom
    while last < log.head, stable > log.purged.stable {
      let rows = try link.query(
        "SELECT seq, body FROM sync_entry WHERE store = $1 AND seq > $2 ORDER BY seq LIMIT 256", .int(store), .int(last))
      guard rows.count > 0 else { throw PostgresFailure(.damaged, "The log lacks what follows entry \(last)") }
      for row in 0..<rows.count {
        let (seq, bytes) = (try rows.seq(row, 0), try rows.bytes(row, 1))
        try reading("Entry \(seq)") { () throws(CodingError) in try ServerLog.Entry(row: bytes, seq) }.holdBack(&stable)
        last = seq
      }
    }
  }

  /// Gives the store another history, which none of its replicas has.
  func renewHistory() throws(PostgresFailure) {
    try planEachUse()
    try readAllReplicas()
    log.renewHistory()
    _ = try link.query("UPDATE sync_store SET history = $2 WHERE id = $1", .int(store), .bytes(log.history))
  }

  private func readAllReplicas() throws(PostgresFailure) {
    try StoreTransaction.readReplicas(
      try link.query("SELECT replica, is_expired, body FROM sync_replica WHERE store = $1 AND NOT is_expired", .int(store)), &log)
  }

  private func highestStamp(after start: Seq, through end: Seq) throws(PostgresFailure) -> Stamp {
    var highest = Stamp.zero
    for table in ["sync_entry", "sync_stamp"] {
      let rows = try link.query(
        "SELECT stamp FROM \(table) WHERE store = $1 AND seq > $2 AND seq <= $3 AND stamp IS NOT NULL ORDER BY stamp DESC LIMIT 1",
        .int(store), .int(start), .int(end))
      if rows.count == 1 { highest = max(highest, try rows.stamp(0, 0)) }
    }
    return highest
  }

  /// Purges some objects. Returns how those were whose epochs are forgotten.
  private func forget(_ rows: [ObjectRow]) throws(PostgresFailure) -> [ObjectBefore] {
    var state = PurgedState(rows, floor: log.purged.floor)
    let forgotten = Merge.purge(log.purged, in: &state)
    try write(state)
    if !forgotten.isEmpty { try sever(forgotten) }
    guard log.keepsBefore else { return [] }
    return forgotten.keys.map { ObjectBefore($0, state.kept[$0].flatMap { $0?.wholeState }) }
  }

  private func write(_ state: PurgedState) throws(PostgresFailure) {
    let statements = ObjectRows.changes(of: state.touched, in: state.memory, from: state.kept, store)
    if !statements.isEmpty { _ = try link.query(all: statements) }
  }

  /// Severs the links to forgotten incarnations, wherever they are. A deleted object may have had any number: those that link are read in
  /// parts, and only their keys at once.
  private func sever(_ forgotten: [ObjectIdentity: Stamp]) throws(PostgresFailure) {
    let pairs = try link.query(
      "SELECT target, source FROM sync_link WHERE store = $1 AND target = ANY($2)", .int(store),
      .byteLists(forgotten.keys.map { ObjectKeyBytes.bytes(of: $0) }))
    for start in stride(from: 0, to: pairs.count, by: Int(StoreTransaction.purgeChunk)) {
      var found: [LinkPair] = []
      for row in start..<min(start + Int(StoreTransaction.purgeChunk), pairs.count) {
        found.append(LinkPair(target: try pairs.bytes(row, 0), source: try pairs.bytes(row, 1)))
      }
      try sever(forgotten, found)
    }
  }

  private func sever(_ forgotten: [ObjectIdentity: Stamp], _ pairs: [LinkPair]) throws(PostgresFailure) {
    let rows = try link.query(
      """
      SELECT has_pieces, body FROM unnest($2::bytea[]) AS wanted(object)
      CROSS JOIN LATERAL (SELECT has_pieces, body FROM sync_object WHERE store = $1 AND object = wanted.object OFFSET 0) AS found
      """, .int(store), .byteLists(Array(Set(pairs.map(\.source)))))
    let linkers = try ObjectRows.read(rows, hasPiecesAt: 0, bodyAt: 1, store, link)
    var state = PurgedState(linkers, floor: log.purged.floor)
    Merge.sever(linksOf: linkers.map(\.object), to: forgotten, in: &state)
    try write(state)
    // A link to the incarnation that is there now stays, and is looked for when that one is deleted.
    var live: Set<LinkPair> = []
    for linker in linkers {
      let source = ObjectKeyBytes.bytes(of: linker.object)
      for target in ObjectRow.links(of: linker.object, in: state.memory) where forgotten[target] != nil {
        live.insert(LinkPair(target: ObjectKeyBytes.bytes(of: target), source: source))
      }
    }
    let dead = pairs.filter { !live.contains($0) }
    if dead.isEmpty { return }
    _ = try link.query(all: [ObjectRows.unlinking(dead.map(\.target), dead.map(\.source), store)])
  }
}

/// A row of the index of links, by the keys of the objects' rows.
private struct LinkPair: Hashable {
  let target: [UInt8]
  let source: [UInt8]
}

/// The objects that a purge handles together.
private struct PurgedState: MergeState {
  private(set) var memory = MemoryState()
  private(set) var kept: [ObjectIdentity: ObjectRow?] = [:]
  private(set) var touched: Set<ObjectIdentity> = []
  private let objects: [ObjectIdentity]

  init(_ rows: [ObjectRow], floor: Stamp) {
    objects = rows.map(\.object)
    memory.setFloor(floor)
    for row in rows { take(row) }
  }

  mutating func take(_ row: ObjectRow) {
    kept.updateValue(row, forKey: row.object)
    row.put(into: &memory)
  }

  var floor: Stamp { memory.floor }

  mutating func setFloor(_ floor: Stamp) { memory.setFloor(floor) }

  func record(of object: ObjectIdentity) -> ObjectRecord? { memory.record(of: object) }

  mutating func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) {
    touched.insert(object)
    memory.setRecord(record, of: object)
  }

  func element(_ id: ElementID, near: ListPosition, of list: ListPlace) -> ListElement? { memory.element(id, near: near, of: list) }

  func elements(of list: ListPlace) -> [ListElement] { memory.elements(of: list) }

  mutating func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) {
    touched.insert(list.object)
    memory.replaceElement(old, with: new, of: list)
  }

  mutating func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) {
    touched.insert(object)
    memory.removeLists(of: object, under: path)
  }

  func objectsToPurge(upTo seq: Seq) -> [ObjectIdentity] { objects }

  /// All loaded objects: the purge skips those that link to something else. Others are severed once this one is written.
  func linkers(of target: ObjectIdentity) -> [ObjectIdentity] { Array(kept.keys) }
}
#endif
