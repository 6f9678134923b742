#if Sync
import StoreValues
import SyncModel
import SyncProtocol
import SyncServer
import SyncServerConformance
import Testing
import VivariumTestSupport

@testable import SyncStorePostgres

@Suite("Rows in PostgreSQL", .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct PostgresRowsTests {
  private static let path = RandomAuthor.path
  private static let object = ObjectIdentity("Thing", .int(1))
  private static let list = [PathStep(.list("tags"), epoch: .zero)]

  /// Changesets that grow a list at its end, and change it anywhere.
  private struct ListAuthor {
    let id = ReplicaID(1)
    var clientSeq: UInt64 = 0
    var elements: [(id: ElementID, position: ListPosition)] = []

    mutating func changeset(_ operations: [Operation.Action], isFirst: Bool = false) -> Upload {
      clientSeq += 1
      let make = isFirst ? [Operation(PostgresRowsTests.object, epoch: .zero, .create)] : []
      return .changeset(
        Changeset(
          clientSeq: clientSeq, baseSeq: .zero, first: stamp,
          operations: make + operations.map { Operation(PostgresRowsTests.object, epoch: .zero, path: PostgresRowsTests.list, $0) }))
    }

    var stamp: Stamp { Stamp(milliseconds: 1_000 + clientSeq, counter: 0, replica: id) }

    mutating func appending(_ count: Int) -> [Operation.Action] {
      (0..<count).map { _ in
        let number = UInt64(elements.count + 1)
        let position = ListPosition([ListPosition.Step(gap: Int64(number) * 1_024, bunch: Stamp(time: number, replica: id))])
        elements.append((ElementID(id, number), position))
        return .insert(elements[elements.count - 1].id, at: position, .string("tag \(number)"))
      }
    }
  }

  @Test("a long list is one list, and a change of it writes the piece that it touches")
  func longLists() async throws {
    var random = SeededGenerator.forTest()
    let memory = MemoryServerStore()
    let (stores, address) = try await PostgresServerStore.forTest()
    let link = PostgresConnection(address: address, name: "look")
    var author = ListAuthor()
    for store in [memory, stores] as [any SyncServerStore] {
      try await store.makeStore(PostgresRowsTests.path)
      _ = try await store.bind(PostgresRowsTests.path, author.id, secret: [1], user: "u", at: 1)
    }
    func upload(_ upload: Upload) async throws {
      for store in [memory, stores] as [any SyncServerStore] {
        let outcomes = try await store.commit(
          PostgresRowsTests.path, author.id, [upload], refusalSeen: .zero, at: 1_000_000) { _ in nil }
        guard case .accepted = outcomes.first else { Issue.record("\(outcomes)"); continue }
      }
    }
    func pieces() async throws -> Set<[UInt8]> {
      try await link.run { link throws(PostgresFailure) in
        let rows = try link.query("SELECT body FROM sync_piece")
        var bodies: Set<[UInt8]> = []
        for row in 0..<rows.count { bodies.insert(try rows.bytes(row, 0)) }
        return bodies
      }
    }
    let first = author.appending(2_000)
    try await upload(author.changeset(first, isFirst: true))
    #expect(try await pieces().count > 10)
    for _ in 0..<60 {
      let before = try await pieces()
      let element = author.elements[random.below(author.elements.count)]
      let action: [Operation.Action]
      switch random.below(4) {
      case 0: action = [.setElement(element.id, near: element.position, .int(Int64(random.below(9))))]
      case 1: action = [.erase(element.id, near: element.position)]
      case 2:
        let step = ListPosition.Step(
          gap: Int64(random.below(2_000)) * 1_024 + 5, bunch: Stamp(time: author.clientSeq, replica: author.id))
        action = [.move(element.id, from: element.position, to: ListPosition([step]))]
      default: action = author.appending(1)
      }
      try await upload(author.changeset(action))
      // A move is out of one and into another, which may be halved.
      #expect(try await pieces().subtracting(before).count <= 3)
      let there = try await stores.objects(PostgresRowsTests.path, changedAfter: .zero, behind: nil, limitBytes: .max)
      #expect(there == (try await memory.objects(PostgresRowsTests.path, changedAfter: .zero, behind: nil, limitBytes: .max)))
    }
    try await upload(author.changeset([.clear]))
    #expect(try await pieces().isEmpty)
    await stores.close()
  }

  @Test("a replica as which no handler writes any more has no row, and one that was away for too long keeps its")
  func replicas() async throws {
    let (stores, address) = try await PostgresServerStore.forTest()
    let (path, link) = (PostgresRowsTests.path, PostgresConnection(address: address, name: "look"))
    try await stores.makeStore(path)
    for replica in [1, 2] as [UInt64] {
      _ = try await stores.bind(path, ReplicaID(replica), secret: [1], user: "u", at: replica == 1 ? 100 : 900)
    }
    let lease = try #require(try await stores.claim(path, handler: "mail", fromStart: true, until: .max, at: 0))
    // A holder with an empty memory writes as another.
    for (cursor, number) in ([1 << 63 | 1, 1 << 63 | 2] as [UInt64]).enumerated() {
      let changeset = Changeset(
        clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_000, counter: 0, replica: ReplicaID(number)),
        operations: [Operation(PostgresRowsTests.object, epoch: .zero, .create)])
      _ = try await stores.advance(path, lease, to: Seq(UInt64(cursor)), writing: [changeset], at: 1_000_000)
    }
    func replicas() async throws -> [Int64: Bool] {
      try await link.run { link throws(PostgresFailure) in
        let rows = try link.query("SELECT replica, is_expired FROM sync_replica")
        var replicas: [Int64: Bool] = [:]
        for row in 0..<rows.count { replicas[try rows.int(row, 0)] = try rows.bool(row, 1) }
        return replicas
      }
    }
    #expect(try await replicas() == [1: false, 2: false, .min + 2: false])
    try await stores.removeHandler(path, "mail")
    #expect(try await replicas() == [1: false, 2: false])
    // What an earlier build left goes with the next purge.
    try await link.run { link throws(PostgresFailure) in
      try link.run("INSERT INTO sync_replica SELECT store, -5, '', 0, 0, true, '' FROM sync_replica WHERE replica = 1")
    }
    try await stores.acknowledge(
      path, ReplicaID(2), Acknowledgement(cursor: Seq(2), pendingBase: Seq(2), refusalSeen: .zero), at: 900)
    #expect(try await stores.purge(path, expiry: 500) != nil)
    #expect(try await replicas() == [1: true, 2: false])
    await stores.close()
  }

  @Test("keys of rows are in the order of the identities, however long")
  func keys() {
    var random = SeededGenerator.forTest()
    var objects: [ObjectIdentity] = []
    for name in ["A", "AB", "A\0", "A\0B", "B"] as [Name] {
      for number in [Int64.min, -5, 0, 7, .max] { objects.append(ObjectIdentity(name, .int(number))) }
      for text in ["", "a", "b", "a\0", String(repeating: "x", count: 700)] { objects.append(ObjectIdentity(name, .string(Name(text)))) }
      objects.append(ObjectIdentity(name, .created(ReplicaID(.random(in: 1 ... .max, using: &random)), .init(3))))
      objects.append(ObjectIdentity(name, .created(ReplicaID(5), .init(-3))))
    }
    for a in objects {
      for b in objects {
        let (x, y) = (ObjectKeyBytes.bytes(of: a), ObjectKeyBytes.bytes(of: b))
        #expect((a < b) == x.lexicographicallyPrecedes(y), "\(a) \(b)")
      }
    }
    let long = ["p", "q"].map { ObjectKeyBytes.bytes(of: ObjectIdentity("A", .string(Name(String(repeating: "x", count: 5_000) + $0)))) }
    #expect(long[0] != long[1] && long.allSatisfy { $0.count <= 1_200 })
  }

  @Test("objects with very long primary keys are kept")
  func longKeys() async throws {
    let (stores, _) = try await PostgresServerStore.forTest()
    try await stores.makeStore(PostgresRowsTests.path)
    _ = try await stores.bind(PostgresRowsTests.path, ReplicaID(1), secret: [1], user: "u", at: 1)
    let objects = ["a", "b"].map { ObjectIdentity("Thing", .string(Name(String(repeating: "k", count: 20_000) + $0))) }
    let changeset = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_000, counter: 0, replica: ReplicaID(1)),
      operations: objects.map { Operation($0, epoch: .zero, .create) })
    _ = try await stores.commit(
      PostgresRowsTests.path, ReplicaID(1), [.changeset(changeset)], refusalSeen: .zero, at: 1_000_000) { _ in nil }
    let page = try await stores.objects(PostgresRowsTests.path, changedAfter: .zero, behind: nil, limitBytes: .max)
    #expect(Set(page.objects.map(\.identity)) == Set(objects))
    await stores.close()
  }

  @Test("tables of a newer build are refused, and missing ones are said to be")
  func versions() async throws {
    let (stores, address) = try await PostgresServerStore.forTest()
    await stores.close()
    let link = PostgresConnection(address: address, name: "look")
    try await link.run { link throws(PostgresFailure) in try link.run("UPDATE sync_version SET version = 6") }
    await #expect { try await PostgresServerStore(address, makesTables: true) } throws: { error in
      (error as? ServerStoreError)?.message.contains("newer build") == true
    }
    try await link.run { link throws(PostgresFailure) in try link.run("DROP TABLE sync_version") }
    await #expect { try await PostgresServerStore(address) } throws: { error in
      (error as? ServerStoreError)?.message.contains("no tables") == true
    }
  }

  /// Makes the tables of version 4 of those of version 5.
  private static let withoutCheckpoints = """
    ALTER TABLE sync_entry DROP COLUMN checkpoint; ALTER TABLE sync_entry RENAME TO sync_log;
    ALTER TABLE sync_object DROP COLUMN kept_since;
    ALTER TABLE sync_store DROP COLUMN checkpoint, DROP COLUMN kept_bytes, DROP COLUMN entry_bytes;
    """

  @Test("what an older build has kept for handlers is there, and no server goes on with tables that a newer one has upgraded")
  func keptBefore() async throws {
    let (stores, address) = try await PostgresServerStore.forTest()
    let path = PostgresRowsTests.path
    try await stores.makeStore(path)
    _ = try await stores.bind(path, ReplicaID(1), secret: [1], user: "u", at: 1)
    _ = try await stores.claim(path, handler: "mail", fromStart: true, until: 1, at: 0)
    func commit(_ stores: PostgresServerStore, _ number: UInt64) async throws {
      let changeset = Changeset(
        clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number, counter: 0, replica: ReplicaID(1)),
        operations: [Operation(ObjectIdentity("Thing", .int(Int64(number))), epoch: .zero, .create)])
      _ = try await stores.commit(path, ReplicaID(1), [.changeset(changeset)], refusalSeen: .zero, at: 1_000_000) { _ in nil }
    }
    for number in UInt64(1)...2 { try await commit(stores, number) }
    let link = PostgresConnection(address: address, name: "look")
    try await link.run { link throws(PostgresFailure) in
      try link.run("\(PostgresRowsTests.withoutCheckpoints) UPDATE sync_version SET version = 4")
    }
    let upgraded = try await PostgresServerStore(address, makesTables: true)
    try await commit(upgraded, 3)
    for (seq, count) in [(0, 3), (1, 2), (2, 1)] as [(UInt64, Int)] {
      let past = try await upgraded.past(path, at: Seq(seq))
      #expect(past.asOf == Seq(seq) && past.states.count == count)
    }
    try await link.run { link throws(PostgresFailure) in try link.run("UPDATE sync_version SET version = 6") }
    await #expect { try await commit(upgraded, 4) } throws: { ($0 as? ServerStoreError)?.message.contains("newer build") == true }
    for stores in [stores, upgraded] { await stores.close() }
  }

  @Test("tables of the build before become those of this one, with what is in them")
  func upgrade() async throws {
    let (stores, address) = try await PostgresServerStore.forTest()
    try await stores.makeStore(PostgresRowsTests.path)
    await stores.close()
    let link = PostgresConnection(address: address, name: "look")
    try await link.run { link throws(PostgresFailure) in
      try link.run(
        """
        ALTER TABLE sync_entry DROP COLUMN before; ALTER TABLE sync_store DROP COLUMN types; DROP INDEX sync_replica_user;
        \(PostgresRowsTests.withoutCheckpoints) UPDATE sync_version SET version = 1
        """)
    }
    await #expect { try await PostgresServerStore(address) } throws: { ($0 as? ServerStoreError)?.code == .unavailable }
    let upgraded = try await PostgresServerStore(address, makesTables: true)
    #expect(try await upgraded.stores() == [PostgresRowsTests.path])
    _ = try await upgraded.claim(PostgresRowsTests.path, handler: "mail", fromStart: true, until: 1, at: 0)
    #expect(try await upgraded.past(PostgresRowsTests.path, at: .zero).states.isEmpty)
    let schema = SyncSchema(["Note": ["text": "string"]])
    #expect(try await upgraded.declare(PostgresRowsTests.path, SyncSchema()) == SyncSchema())
    #expect(try await upgraded.declare(PostgresRowsTests.path, schema) == schema)
    let indexes = try await link.run { link throws(PostgresFailure) in
      try link.query("SELECT 1 FROM pg_indexes WHERE indexname = 'sync_replica_user'").count
    }
    #expect(indexes == 1)
    await upgraded.close()
  }

  @Test("a server that is started while another one upgrades the tables waits, and finds them upgraded")
  func upgradedTogether() async throws {
    let (stores, address) = try await PostgresServerStore.forTest()
    try await stores.makeStore(PostgresRowsTests.path)
    await stores.close()
    let other = PostgresConnection(address: address, name: "other")
    try await other.run { link throws(PostgresFailure) in
      try link.run("DROP INDEX sync_replica_user; UPDATE sync_version SET version = 3")
      // The other server is between statements of its upgrade.
      try link.run(
        """
        BEGIN; SELECT 1 FROM sync_version WHERE id = 1 FOR UPDATE;
        CREATE INDEX sync_replica_user ON sync_replica(store, usr) WHERE NOT is_expired
        """)
    }
    async let upgraded = PostgresServerStore(address, makesTables: true)
    let look = PostgresConnection(address: address, name: "look")
    var isWaiting = false
    while !isWaiting {
      try Task.checkCancellation()
      isWaiting = try await look.run { link throws(PostgresFailure) in
        try link.query(
          """
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vivarium'
          AND wait_event_type = 'Lock'
          """
        ).count > 0
      }
    }
    try await other.run { link throws(PostgresFailure) in
      try link.run("UPDATE sync_version SET version = 4 WHERE version = 3; COMMIT")
    }
    let second = try await upgraded
    #expect(try await second.stores() == [PostgresRowsTests.path])
    await second.close()
  }

  @Test("a database that is not there is said so")
  func away() async throws {
    await #expect { try await PostgresServerStore("host=/nowhere dbname=none") } throws: { error in
      (error as? ServerStoreError)?.code == .unavailable
    }
  }
}
#endif
