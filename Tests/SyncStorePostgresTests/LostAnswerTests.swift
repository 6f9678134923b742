#if Sync
import SyncModel
import SyncProtocol
import SyncProving
import SyncServer
import SyncServerConformance
import Testing

@testable import SyncStorePostgres

/// A database server of some tests' own, which can lose the answer to a commit that counts.
final class ForgetfulServer: Sendable {
  private let server: PostgresFolder
  private let control: PostgresConnection
  private let probe: PostgresConnection

  init() async throws {
    server = try PostgresFolder()
    control = PostgresConnection(address: server.address(), name: "control")
    probe = PostgresConnection(address: server.address(), name: "probe")
    try await run("CREATE TABLE probe(number bigint)")
  }

  /// An empty database, and its address.
  func database(_ name: String) async throws -> String {
    try await run("CREATE DATABASE \(name)")
    return server.address(of: name)
  }

  /// Makes a call of a server's stores or users, whose commit counts, and whose answer is lost with its connection.
  func losingAnswer<R: Sendable>(of call: @escaping @Sendable () async throws -> R) async throws -> R {
    // A commit waits for a second server that never comes: it counts already, and nobody has been told.
    try await run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    try await run("SELECT pg_reload_conf()")
    try await untilCommitsWait()
    let answer = Task { try await call() }
    try await end(try await waiting("vivarium"))
    // What the call does next does not wait.
    try await run("ALTER SYSTEM RESET synchronous_standby_names")
    try await run("SELECT pg_reload_conf()")
    return try await answer.value
  }

  /// The server's processes take note of a setting in their own time: one commit after the other, until one waits.
  private func untilCommitsWait() async throws {
    let probing = Task { [probe] in
      while !Task.isCancelled {
        try await probe.run { link throws(PostgresFailure) in try link.run("INSERT INTO probe VALUES (1)") }
      }
    }
    let connection = try await waiting("probe")
    probing.cancel()
    try await end(connection)
    _ = await probing.result
  }

  /// The process of the connection of a name whose commit waits, once there is one.
  private func waiting(_ name: String) async throws -> Int64 {
    while true {
      try Task.checkCancellation()
      let found = try await control.run { link throws(PostgresFailure) -> Int64? in
        let rows = try link.query(
          "SELECT pid::int8 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = $1", .text(name))
        return rows.count > 0 ? (try rows.int(0, 0)) : nil
      }
      if let found { return found }
    }
  }

  /// Ends a connection, and returns when it is gone.
  private func end(_ process: Int64) async throws {
    var isThere = true
    while isThere {
      try Task.checkCancellation()
      isThere = try await control.run { link throws(PostgresFailure) in
        try link.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1", .int(process)).count > 0
      }
    }
  }

  private func run(_ statement: String) async throws {
    try await control.run { link throws(PostgresFailure) in try link.run(statement) }
  }
}

@Suite(
  "What a server does once although the answer was lost", .serialized, .timeLimit(.minutes(15)),
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct LostAnswerTests {
  private static let path = RandomAuthor.path
  private static let server = Task { try await ForgetfulServer() }

  /// Stores that hear of each other by notices alone.
  private func open(_ address: String) async throws -> PostgresServerStore {
    var configuration = PostgresServerStore.Configuration()
    configuration.pollMilliseconds = 3_600_000
    return try await PostgresServerStore(address, makesTables: true, configuration: configuration)
  }

  private func commit(_ number: UInt64, to stores: PostgresServerStore) async throws -> [UploadOutcome] {
    let upload = Upload.changeset(.creating(number, by: ReplicaID(1)))
    return try await stores.commit(LostAnswerTests.path, ReplicaID(1), [upload], refusalSeen: .zero, at: 1_000_000) { _ in nil }
  }

  @Test("a changeset is there once, and whoever listens hears of it")
  func uploads() async throws {
    let server = try await LostAnswerTests.server.value
    let (stores, place) = (try await open(try await server.database("uploads")), LostAnswerTests.path)
    try await stores.makeStore(place)
    _ = try await stores.bind(place, ReplicaID(1), secret: [1], user: "u", at: 1)
    var heard = await stores.wakeups().makeAsyncIterator()
    let outcomes = try await server.losingAnswer { try await commit(1, to: stores) }
    #expect(outcomes == [.duplicate])
    #expect(await heard.next() == place)
    #expect(try await stores.heads([place]) == [place: Seq(1)])
    #expect(try await commit(2, to: stores) == [.accepted(Seq(2))])
    await stores.close()
  }

  @Test("what a handler has written is there once, and is not refused")
  func handlers() async throws {
    let server = try await LostAnswerTests.server.value
    let (stores, place) = (try await open(try await server.database("handlers")), LostAnswerTests.path)
    try await stores.makeStore(place)
    _ = try await stores.bind(place, ReplicaID(1), secret: [1], user: "u", at: 1)
    _ = try await commit(1, to: stores)
    let claimed = try await stores.claim(place, handler: "mail", fromStart: true, until: 2_000_000, at: 1_000_000)
    let lease = try #require(claimed)
    let written = Changeset(
      clientSeq: 1, baseSeq: .zero, first: Stamp(milliseconds: 1_001, counter: 0, replica: ReplicaID(1 << 63 | 1)),
      operations: [SyncModel.Operation(ObjectIdentity("Thing", .int(7)), epoch: .zero, .create)])
    let entries = try await server.losingAnswer {
      try await stores.advance(place, lease, to: Seq(1), writing: [written], at: 1_000_000)
    }
    #expect(entries.isEmpty)
    #expect(try await stores.heads([place]) == [place: Seq(2)])
    #expect(try await stores.handlers(place).mapValues(\.cursor) == ["mail": Seq(1)])
    await stores.close()
  }

  @Test("a store is made, and does not exist already")
  func making() async throws {
    let server = try await LostAnswerTests.server.value
    let (stores, place) = (try await open(try await server.database("making")), LostAnswerTests.path)
    try await server.losingAnswer { try await stores.makeStore(place) }
    #expect(try await stores.stores() == [place])
    await #expect { try await stores.makeStore(place) } throws: { ($0 as? ServerStoreError)?.code == .storeExists }
    await stores.close()
  }

  @Test("a store is removed, and is not missing")
  func removing() async throws {
    let server = try await LostAnswerTests.server.value
    let (stores, place) = (try await open(try await server.database("removing")), LostAnswerTests.path)
    try await stores.makeStore(place)
    try await server.losingAnswer { try await stores.removeStore(place) }
    #expect(try await stores.stores() == [])
    await #expect { try await stores.removeStore(place) } throws: { ($0 as? ServerStoreError)?.code == .unknownStore }
    await stores.close()
  }

  @Test("a user is added, and is not there already")
  func users() async throws {
    let server = try await LostAnswerTests.server.value
    let users = try await PostgresUserDirectory(try await server.database("users"), makesTables: true)
    let isAdded = try await server.losingAnswer { try await users.add(UserRecord(name: "ann", passwordHash: "x")) }
    #expect(isAdded)
    #expect(try await users.add(UserRecord(name: "ann", passwordHash: "y")) == false)
    #expect(try await users.user("ann")?.passwordHash == "x")
    #expect(try await users.revision() == 1)
    await users.close()
  }
}

@Suite(
  "Servers of a database that crashes", .timeLimit(.minutes(15)),
  .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct DatabaseCrashTests {
  @Test("go on when it has recovered, and hear of each other again")
  func crashes() async throws {
    let (server, path) = (try PostgresFolder(), RandomAuthor.path)
    var configuration = PostgresServerStore.Configuration()
    // Notices alone: the connection that hears them is lost with the others.
    configuration.pollMilliseconds = 3_600_000
    let first = try await PostgresServerStore(server.address(), makesTables: true, configuration: configuration)
    let second = try await PostgresServerStore(server.address(), configuration: configuration)
    try await first.makeStore(path)
    await second.follow(path)
    for (stores, replica) in [(first, ReplicaID(1)), (second, ReplicaID(2))] {
      _ = try await stores.bind(path, replica, secret: [1], user: "u", at: 1)
    }
    var heard = await second.wakeups().makeAsyncIterator()
    for number in 1...3 as ClosedRange<UInt64> {
      try await Task.detached { try server.crash() }.value
      let outcomes = try await first.commit(
        path, ReplicaID(1), [.changeset(.creating(number, by: ReplicaID(1)))], refusalSeen: .zero, at: 1_000_000) { _ in nil }
      #expect(outcomes == [.accepted(Seq(number))])
      #expect(await heard.next() == path)
      #expect(try await second.changes(path, for: ReplicaID(2), after: .zero, limitBytes: 1 << 20).head == Seq(number))
    }
    for stores in [first, second] { await stores.close() }
  }
}
#endif
