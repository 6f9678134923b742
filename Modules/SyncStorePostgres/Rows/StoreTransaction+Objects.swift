#if Sync
import SyncModel
import SyncServer

extension StoreTransaction {
  /// Loads rows of objects (`has_pieces`, `body`, `kept_since`), with the pieces of their lists, into the part of the log.
  ///
  /// - Parameter wanted: the requested objects; those without a row are then known not to be stored.
  func take(objects rows: PostgresRows, wanted: Set<ObjectIdentity>) throws(PostgresFailure) {
    for object in wanted { kept.updateValue(kept[object] ?? nil, forKey: object) }
    for (number, row) in try ObjectRows.read(rows, hasPiecesAt: 0, bodyAt: 1, store, link).enumerated() {
      // Identities too long for a key may share one.
      guard wanted.contains(row.object) else {
        throw PostgresFailure(ServerStoreError(.writesRefused, "The primary key of an object is taken for that of \(row.object)."))
      }
      row.put(into: &log.state)
      kept.updateValue(row, forKey: row.object)
      if !rows.isNull(number, 2), try rows.seq(number, 2) == log.checkpoint?.seq { log.checkpoint?.objects.insert(row.object) }
    }
  }

  /// The statements that write the touched objects.
  func objectChanges() -> [PostgresStatement] {
    ObjectRows.changes(of: log.touched.objects, in: log.state, from: kept, store, checkpoint: log.checkpoint)
  }
}

/// Reads and writes rows of objects and their pieces.
enum ObjectRows {
  static func read(
    _ rows: PostgresRows, hasPiecesAt flag: Int, bodyAt body: Int, _ store: Int64, _ link: PostgresLink
  ) throws(PostgresFailure) -> [ObjectRow] {
    var (objects, withPieces) = ([ObjectRow](), [Int]())
    objects.reserveCapacity(rows.count)
    for row in 0..<rows.count {
      let bytes = try rows.bytes(row, body)
      if try rows.bool(row, flag) { withPieces.append(row) }
      objects.append(try reading("An object's row") { () throws(CodingError) in try ObjectRow(decoding: bytes) })
    }
    if withPieces.isEmpty { return objects }
    let keys = withPieces.map { ObjectKeyBytes.bytes(of: objects[$0].object) }
    let pieces = try link.query(
      """
      SELECT found.object, list, piece, body FROM unnest($2::bytea[]) AS wanted(object)
      CROSS JOIN LATERAL (SELECT object, list, piece, body FROM sync_piece WHERE store = $1 AND object = wanted.object OFFSET 0) AS found
      """, .int(store), .byteLists(keys))
    var found: [[UInt8]: [ObjectRow.Piece: ListPiece]] = [:]
    for row in 0..<pieces.count {
      let number = ObjectRow.Piece(
        list: UInt64(bitPattern: try pieces.int(row, 1)), number: UInt32(truncatingIfNeeded: try pieces.int(row, 2)))
      let bytes = try pieces.bytes(row, 3)
      found[try pieces.bytes(row, 0), default: [:]][number] = try reading("A list's piece") { () throws(CodingError) in
        try ListPiece(decoding: bytes)
      }
    }
    for (row, key) in zip(withPieces, keys) {
      let object = objects[row].object
      try reading("A list of \(object)") { () throws(CodingError) in try objects[row].take(found[key] ?? [:]) }
    }
    return objects
  }

  static func changes(
    of objects: Set<ObjectIdentity>, in state: MemoryState, from kept: [ObjectIdentity: ObjectRow?], _ store: Int64,
    checkpoint: Checkpoint? = nil
  ) -> [PostgresStatement] {
    var (written, gone) = (Written(), [[UInt8]?]())
    for object in objects {
      let (key, old) = (ObjectKeyBytes.bytes(of: object), kept[object] ?? nil)
      let changes = ObjectRow.changes(of: object, in: state, from: old)
      if let row = changes.row {
        written.keys.append(key)
        written.seqs.append(Int64(bitPattern: state.record(of: object)?.lastSeq.rawValue ?? 0))
        written.flags.append(changes.hasPieces)
        written.bodies.append(row)
        let isKept = checkpoint?.objects.contains(object) == true
        written.keptSince.append(isKept ? Int64(bitPattern: checkpoint?.seq.rawValue ?? 0) : -1)
      } else if old != nil {
        gone.append(key)
      }
      for (piece, body) in changes.pieces { written.take(piece, body, key) }
      for target in changes.links {
        written.targets.append(ObjectKeyBytes.bytes(of: target))
        written.sources.append(key)
      }
      for target in changes.unlinked {
        written.formerTargets.append(ObjectKeyBytes.bytes(of: target))
        written.formerSources.append(key)
      }
    }
    return written.statements(store) + removal(gone, store)
  }

  private static func removal(_ keys: [[UInt8]?], _ store: Int64) -> [PostgresStatement] {
    if keys.isEmpty { return [] }
    return [
      PostgresStatement("DELETE FROM sync_object WHERE store = $1 AND object = ANY($2)", .int(store), .byteLists(keys)),
      PostgresStatement("DELETE FROM sync_piece WHERE store = $1 AND object = ANY($2)", .int(store), .byteLists(keys)),
    ]
  }

  /// Forgets that objects link to others.
  static func unlinking(_ targets: [[UInt8]?], _ sources: [[UInt8]?], _ store: Int64) -> PostgresStatement {
    PostgresStatement(
      """
      DELETE FROM sync_link WHERE store = $1 AND (target, source) IN (SELECT * FROM unnest($2::bytea[], $3::bytea[]))
      """, .int(store), .byteLists(targets), .byteLists(sources))
  }

  /// The values to write, one array per column.
  private struct Written {
    var (keys, seqs, flags, bodies) = ([[UInt8]?](), [Int64](), [Bool](), [[UInt8]?]())
    /// The checkpoint as of which the object's state is kept; -1 for none.
    var keptSince: [Int64] = []
    var (owners, lists, pieces, contents) = ([[UInt8]?](), [Int64](), [Int64](), [[UInt8]?]())
    var (emptied, emptiedLists, emptiedPieces) = ([[UInt8]?](), [Int64](), [Int64]())
    var (targets, sources) = ([[UInt8]?](), [[UInt8]?]())
    var (formerTargets, formerSources) = ([[UInt8]?](), [[UInt8]?]())

    mutating func take(_ piece: ObjectRow.Piece, _ body: [UInt8]?, _ key: [UInt8]) {
      let (list, number) = (Int64(bitPattern: piece.list), Int64(piece.number))
      guard let body else {
        emptied.append(key)
        emptiedLists.append(list)
        emptiedPieces.append(number)
        return
      }
      owners.append(key)
      lists.append(list)
      pieces.append(number)
      contents.append(body)
    }

    func statements(_ store: Int64) -> [PostgresStatement] {
      var statements: [PostgresStatement] = []
      if !keys.isEmpty {
        statements.append(
          PostgresStatement(
            """
            INSERT INTO sync_object(store, object, last_seq, has_pieces, body, kept_since)
            SELECT $1, object, last_seq, has_pieces, body, nullif(kept_since, -1)
            FROM unnest($2::bytea[], $3::int8[], $4::bool[], $5::bytea[], $6::int8[])
            AS objects(object, last_seq, has_pieces, body, kept_since)
            ON CONFLICT (store, object) DO UPDATE SET last_seq = excluded.last_seq, has_pieces = excluded.has_pieces,
            body = excluded.body, kept_since = coalesce(excluded.kept_since, sync_object.kept_since)
            """, .int(store), .byteLists(keys), .ints(seqs), .bools(flags), .byteLists(bodies), .ints(keptSince)))
      }
      if !emptied.isEmpty {
        statements.append(
          PostgresStatement(
            """
            DELETE FROM sync_piece WHERE store = $1 AND (object, list, piece) IN
            (SELECT * FROM unnest($2::bytea[], $3::int8[], $4::int8[]))
            """, .int(store), .byteLists(emptied), .ints(emptiedLists), .ints(emptiedPieces)))
      }
      if !owners.isEmpty {
        statements.append(
          PostgresStatement(
            """
            INSERT INTO sync_piece(store, object, list, piece, body)
            SELECT $1, * FROM unnest($2::bytea[], $3::int8[], $4::int8[], $5::bytea[])
            ON CONFLICT (store, object, list, piece) DO UPDATE SET body = excluded.body
            """, .int(store), .byteLists(owners), .ints(lists), .ints(pieces), .byteLists(contents)))
      }
      // Before the new ones: identities too long for a key may share one.
      if !formerTargets.isEmpty { statements.append(ObjectRows.unlinking(formerTargets, formerSources, store)) }
      if !targets.isEmpty {
        statements.append(
          PostgresStatement(
            """
            INSERT INTO sync_link(store, target, source) SELECT $1, * FROM unnest($2::bytea[], $3::bytea[])
            ON CONFLICT (store, target, source) DO NOTHING
            """, .int(store), .byteLists(targets), .byteLists(sources)))
      }
      return statements
    }
  }
}
#endif
