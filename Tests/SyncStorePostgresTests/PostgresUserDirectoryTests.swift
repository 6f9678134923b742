#if Sync
import SyncServer
import SyncServerConformance
import Testing

@testable import SyncStorePostgres

@Suite("The users in PostgreSQL", .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct PostgresUserDirectoryTests {
  /// Those of two servers over one database.
  private func sides() async throws -> (PostgresUserDirectory, PostgresUserDirectory) {
    let cluster = try #require(try PostgresCluster.shared.get())
    let address = try await cluster.database()
    return (try await PostgresUserDirectory(address, makesTables: true), try await PostgresUserDirectory(address))
  }

  @Test("are there for every server of the database")
  func kept() async throws {
    let (one, other) = try await sides()
    try await UserDirectoryChecks.areThereForAnother(one, other)
    for side in [one, other] { await side.close() }
  }

  @Test("go with their log-ins and rights, and each change of users and rights has another number")
  func removing() async throws {
    let (one, other) = try await sides()
    try await UserDirectoryChecks.goWithWhatIsTheirs(one)
    for side in [one, other] { await side.close() }
  }

  @Test("lose no change where many are made at once, from two servers")
  func together() async throws {
    let (one, other) = try await sides()
    try await UserDirectoryChecks.loseNoChange(one, other)
    for side in [one, other] { await side.close() }
  }

  @Test("are asked with one key for tokens, whichever server drew it")
  func tokenKey() async throws {
    let (one, other) = try await sides()
    let key = try await one.tokenKey([1, 2, 3])
    #expect(try await other.tokenKey([4, 5, 6]) == key && key == [1, 2, 3])
    for side in [one, other] { await side.close() }
  }

  @Test("are an error where the database has no tables, or a row that is none of ours, and never nobody")
  func damaged() async throws {
    let cluster = try #require(try PostgresCluster.shared.get())
    let address = try await cluster.database()
    await #expect(throws: ServerStoreError.self) { _ = try await PostgresUserDirectory(address) }
    let users = try await PostgresUserDirectory(address, makesTables: true)
    try await users.update("ann") { _ in UserRecord(name: "ann") }
    let control = PostgresConnection(address: address, name: "vandal")
    try await control.run { link throws(PostgresFailure) in
      try link.run("UPDATE sync_users SET version = version + 1, body = 'x'")
    }
    await #expect(throws: ServerStoreError.self) { _ = try await users.users() }
    await #expect(throws: ServerStoreError.self) { try await users.update("bob") { _ in UserRecord(name: "bob") } }
    control.end()
    await users.close()
  }
}
#endif
