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
    try StoreTransaction.readReplicas(
      try link.query("SELECT replica, is_expired, body FROM sync_replica WHERE store = $1 AND NOT is_expired", .int(store)), &log)
    try readHandlers(try link.query("SELECT name, position, author, fence, lease_end FROM sync_handler WHERE store = $1", .int(store)))
    guard let stable = log.expire(before: expiry) else { return nil }
    log.stamps = [(stable, try highestStamp(after: before, through: stable))]
    log.note(stable)
    _ = try link.query("DELETE FROM sync_stamp WHERE store = $1 AND seq <= $2", .int(store), .int(stable))
    // Objects unchanged since the last purge have nothing more to forget.
    var last: [UInt8] = []
    while true {
      let rows = try link.query(
        """
        SELECT has_pieces, body, object FROM sync_object WHERE store = $1 AND object > $2 AND last_seq > $3
        ORDER BY object LIMIT $4
        """, .int(store), .bytes(last), .int(before), .int(StoreTransaction.purgeChunk))
      guard rows.count > 0 else { break }
      last = try rows.bytes(rows.count - 1, 2)
      try forget(try ObjectRows.read(rows, hasPiecesAt: 0, bodyAt: 1, store, link))
    }
    return log.purged
  }

  private func highestStamp(after start: Seq, through end: Seq) throws(PostgresFailure) -> Stamp {
    var highest = Stamp.zero
    for table in ["sync_log", "sync_stamp"] {
      let rows = try link.query(
        "SELECT stamp FROM \(table) WHERE store = $1 AND seq > $2 AND seq <= $3 AND stamp IS NOT NULL ORDER BY stamp DESC LIMIT 1",
        .int(store), .int(start), .int(end))
      if rows.count == 1 { highest = max(highest, try rows.stamp(0, 0)) }
    }
    return highest
  }

  private func forget(_ rows: [ObjectRow]) throws(PostgresFailure) {
    var state = PurgedState(rows, floor: log.purged.floor)
    for row in try linkers(ofDeletedOf: rows) where !state.has(row.object) { state.take(row) }
    let forgotten = Merge.purge(log.purged, in: &state)
    let statements = ObjectRows.changes(of: state.touched, in: state.memory, from: state.kept, store)
    if !statements.isEmpty { _ = try link.query(all: statements) }
    // Links to them are severed by now.
    let targets = forgotten.keys.map { Optional(ObjectKeyBytes.bytes(of: $0)) }
    if !targets.isEmpty {
      _ = try link.query("DELETE FROM sync_link WHERE store = $1 AND target = ANY($2)", .int(store), .byteLists(targets))
    }
  }

  /// The objects that may link to one that was deleted before.
  private func linkers(ofDeletedOf rows: [ObjectRow]) throws(PostgresFailure) -> [ObjectRow] {
    let targets = rows.filter { $0.state.record.node.guarding.epoch != .zero }.map { Optional(ObjectKeyBytes.bytes(of: $0.object)) }
    if targets.isEmpty { return [] }
    let found = try link.query(
      """
      SELECT has_pieces, body FROM sync_object WHERE store = $1 AND object IN
      (SELECT source FROM sync_link WHERE store = $1 AND target = ANY($2))
      """, .int(store), .byteLists(targets))
    return try ObjectRows.read(found, hasPiecesAt: 0, bodyAt: 1, store, link)
  }
}

/// The objects that a purge handles together, and those that link to them.
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

  func has(_ object: ObjectIdentity) -> Bool { kept[object] != nil }

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

  /// All loaded objects: the purge skips those that link to something else.
  func linkers(of target: ObjectIdentity) -> [ObjectIdentity] { Array(kept.keys) }
}
#endif
