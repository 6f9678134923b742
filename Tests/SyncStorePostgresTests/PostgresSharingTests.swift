#if Sync
import SyncModel
import SyncProtocol
import SyncServer
import SyncServerConformance
import Synchronization
import Testing
import VivariumTestSupport

@testable import SyncStorePostgres

@Suite("What calls of PostgreSQL share", .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct PostgresSharingTests {
  private static let path = RandomAuthor.path

  /// A store of some replicas in a database to which there is one connection, and as many changes in it as there are replicas.
  private func store(replicas count: Int) async throws -> (stores: PostgresServerStore, replicas: [ReplicaID]) {
    var configuration = PostgresServerStore.Configuration()
    configuration.connections = 1
    let (stores, _) = try await PostgresServerStore.forTest(configuration)
    let replicas = (1...count).map { ReplicaID(UInt64($0)) }
    try await stores.makeStore(PostgresSharingTests.path)
    for replica in replicas {
      _ = try await stores.bind(PostgresSharingTests.path, replica, secret: [1], user: "u", at: 1)
      try await commit(1, by: replica, to: stores)
    }
    return (stores, replicas)
  }

  private func commit(_ number: UInt64, by replica: ReplicaID, to stores: PostgresServerStore) async throws {
    let upload = Upload.changeset(.creating(number, by: replica))
    let outcomes = try await stores.commit(PostgresSharingTests.path, replica, [upload], refusalSeen: .zero, at: 1_000_000) { _ in nil }
    guard case .accepted = outcomes.first, outcomes.count == 1 else { throw ServerStoreError(.writesRefused, "\(outcomes)") }
  }

  /// Counts the transactions of calls that are made while somebody else has the only connection.
  private func transactions(
    _ stores: PostgresServerStore, until isWaiting: () async -> Bool, of calls: [@Sendable () async throws -> Void]
  ) async throws -> Int {
    let connection = await stores.pool.take()
    let before = connection.transactionCount.load(ordering: .relaxed)
    try await withThrowingTaskGroup { group in
      for call in calls { group.addTask { try await call() } }
      let end = ContinuousClock.now + .seconds(60)
      var isLate = false
      while await !isWaiting() && !isLate {
        await Task.yield()
        isLate = ContinuousClock.now > end
      }
      #expect(!isLate, "not all of them wait")
      await stores.pool.giveBack(connection)
      try await group.waitForAll()
    }
    return connection.transactionCount.load(ordering: .relaxed) - before
  }

  @Test("changes that wait for a connection share one transaction")
  func changes() async throws {
    let (stores, replicas) = try await store(replicas: 12)
    let queue = try await stores.queue(PostgresSharingTests.path)
    let count = try await transactions(
      stores, until: { await queue.waitingCount == replicas.count },
      of: replicas.map { replica in { @Sendable in try await commit(2, by: replica, to: stores) } })
    #expect(count == 1)
    #expect(try await stores.heads([PostgresSharingTests.path]) == [PostgresSharingTests.path: Seq(24)])
    await stores.close()
  }

  @Test("sessions that go on behind the same entry share one read, and each gets its own page")
  func reads() async throws {
    let (stores, replicas) = try await store(replicas: 12)
    let place = PostgresSharingTests.path
    let limits = [1, 300, 1 << 20]
    let count = try await transactions(
      stores, until: { stores.logReader.waitingCount == replicas.count * limits.count },
      of: replicas.flatMap { replica in
        limits.map { limit in
          { @Sendable in
            let page = try await stores.changes(place, for: replica, after: Seq(3), limitBytes: limit)
            let expected = page.cursor.rawValue
            try #require(expected >= 4)
            #expect(page.entries.map(\.seq) == (4...expected).map { Seq($0) })
            #expect(limit == 1 ? expected == 4 : limit == 300 ? (5..<12).contains(expected) : expected == 12)
            for entry in page.entries {
              let isOwn = if case .own = entry.body { true } else { false }
              #expect(isOwn == (entry.seq.rawValue == replica.rawValue))
            }
          }
        }
      })
    #expect(count == 1)
    await stores.close()
  }

  @Test("sessions that go on behind different entries do not share a read, and a truncated log is said to those whom it concerns")
  func places() async throws {
    let (stores, replicas) = try await store(replicas: 3)
    let place = PostgresSharingTests.path
    for replica in replicas {
      try await stores.acknowledge(place, replica, Acknowledgement(cursor: Seq(3), pendingBase: Seq(3), refusalSeen: .zero), at: 2)
    }
    try await stores.truncateLog(place, through: Seq(2))
    let count = try await transactions(
      stores, until: { stores.logReader.waitingCount == 3 },
      of: (1...3).map { seq in
        { @Sendable in
          do throws(ServerStoreError) {
            let page = try await stores.changes(place, for: replicas[0], after: Seq(UInt64(seq)), limitBytes: 1 << 20)
            #expect(seq >= 2)
            #expect(page.cursor == Seq(3))
          } catch {
            #expect(seq == 1)
            #expect(error.code == .logTruncated)
          }
        }
      })
    #expect(count == 3)
    await stores.close()
  }

  @Test("one whose change is refused by the database does not take along those who share the transaction")
  func refusals() async throws {
    let (stores, replicas) = try await store(replicas: 4)
    let queue = try await stores.queue(PostgresSharingTests.path)
    // A damaged row of one of the replicas.
    try await stores.pool.transaction { link throws(PostgresFailure) in
      _ = try link.query("UPDATE sync_replica SET body = $1 WHERE replica = 3", .bytes([9, 9, 9]))
    }
    let count = try await transactions(
      stores, until: { await queue.waitingCount == replicas.count },
      of: replicas.map { replica in
        { @Sendable in
          do throws(any Error) {
            try await commit(2, by: replica, to: stores)
            #expect(replica.rawValue != 3)
          } catch {
            #expect((error as? ServerStoreError)?.code == .unavailable)
            #expect(replica.rawValue == 3)
          }
        }
      })
    #expect(count == 1 + replicas.count)
    #expect(try await stores.heads([PostgresSharingTests.path]) == [PostgresSharingTests.path: Seq(7)])
    await stores.close()
  }

  @Test("what a purge and a device that was away look for, is found by the index that knows it")
  func indexes() async throws {
    let (stores, _) = try await store(replicas: 1)
    let plans = try await stores.pool.transaction { link throws(PostgresFailure) -> [String] in
      try link.run(
        """
        INSERT INTO sync_object(store, object, last_seq, has_pieces, body)
        SELECT 7, decode(lpad(to_hex(n), 8, '0'), 'hex'), n, false, 'x' FROM generate_series(1, 20000) AS n;
        ANALYZE sync_object; BEGIN
        """)
      var plans: [String] = []
      for statement in [nil, link.planningEachUse] {
        if let statement { _ = try link.query(all: [statement]) }
        try link.run(
          """
          PREPARE p\(plans.count)(bytea, int8, int8) AS SELECT body FROM sync_object
          WHERE store = 7 AND object > $1 AND last_seq > $2 ORDER BY object LIMIT $3
          """)
        let rows = try link.query("EXPLAIN EXECUTE p\(plans.count)('', 19990, 1000)")
        var lines: [String] = []
        for row in 0..<rows.count { lines.append(try rows.text(row, 0)) }
        plans.append(lines.joined(separator: "\n"))
      }
      try link.run("ROLLBACK")
      return plans
    }
    #expect(!plans[0].contains("sync_object_seq"), "a kept plan would do")
    #expect(plans[1].contains("sync_object_seq"))
    await stores.close()
  }

  @Test("the devices of a user are found by the index that knows them, however many a store has")
  func userIndex() async throws {
    let (stores, _) = try await store(replicas: 1)
    let plan = try await stores.pool.transaction { link throws(PostgresFailure) -> String in
      try link.run(
        """
        INSERT INTO sync_replica SELECT 7, n, 'user ' || n % 1000, n, 0, false, 'x' FROM generate_series(1, 20000) AS n;
        ANALYZE sync_replica; BEGIN;
        PREPARE devices(int8, text) AS SELECT count(*) FROM sync_replica WHERE \(StoreTransaction.devicesOfUser)
        """)
      let rows = try link.query("EXPLAIN EXECUTE devices(7, 'user 5')")
      var lines: [String] = []
      for row in 0..<rows.count { lines.append(try rows.text(row, 0)) }
      try link.run("ROLLBACK")
      return lines.joined(separator: "\n")
    }
    #expect(plan.contains("sync_replica_user"))
    await stores.close()
  }

  @Test("statements are planned once, not at each use")
  func plans() async throws {
    let (stores, replicas) = try await store(replicas: 30)
    _ = try await stores.changes(PostgresSharingTests.path, for: replicas[0], after: .zero, limitBytes: 1 << 20)
    let plans = try await stores.pool.transaction { link throws(PostgresFailure) in
      let rows = try link.query("SELECT sum(generic_plans)::int8, sum(custom_plans)::int8 FROM pg_prepared_statements")
      return (generic: try rows.int(0, 0), custom: try rows.int(0, 1))
    }
    #expect(plans.generic > 100)
    #expect(plans.custom == 0)
    await stores.close()
  }
}
#endif
