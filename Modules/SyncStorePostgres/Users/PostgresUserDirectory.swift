#if Sync
import Foundation
import SyncServer

/// The users of all servers on one PostgreSQL database, and the key with which these servers sign tokens: a log-in is valid on each of
/// them.
///
/// ```swift
/// let users = try await PostgresUserDirectory("postgresql:///vivarium?host=/run/postgresql", makesTables: true)
/// let issuer = try TokenIssuer(key: try await users.tokenKey(TokenIssuer.newKey()))
/// ```
///
/// All users are one row with a version, which is updated only if the version is still the one that was read. **Cost.** A read queries
/// the version, and the row if the version has changed; a change writes the row. For thousands of users.
/// **Threads.** Any task may call. **Errors.** As `PostgresServerStore`.
public actor PostgresUserDirectory: ContentsDirectory {
  private let pool: PostgresPool
  private var known: (version: Int64, contents: DirectoryContents)?

  /// Opens the users of a database.
  ///
  /// - Parameters:
  ///   - address: an address in libpq's form.
  ///   - makesTables: whether to create missing tables.
  public init(_ address: String, makesTables: Bool = false) async throws(ServerStoreError) {
    pool = PostgresPool(address: address, limit: 2)
    try await run { link throws(PostgresFailure) in
      if makesTables { try PostgresSchema.make(link) }
      try PostgresSchema.check(link)
    }
  }

  /// Closes the connections. Must be called before the last reference goes.
  public func close() async { await pool.end() }

  public func contents() async throws(ServerStoreError) -> DirectoryContents { try await newest().contents }

  public func change<R: Sendable>(_ body: @Sendable (inout DirectoryContents) -> R) async throws(ServerStoreError) -> R {
    while true {
      let before = try await newest()
      var contents = before.contents
      let result = body(&contents)
      if contents == before.contents { return result }
      let (version, bytes) = (before.version, try PostgresUserDirectory.bytes(contents))
      let isWritten = try await run { link throws(PostgresFailure) in
        let rows = try link.query(
          "UPDATE sync_users SET version = $1, body = $2 WHERE id = 1 AND version = $3 RETURNING id", .int(version + 1), .bytes(bytes),
          .int(version))
        if rows.count == 1 { return true }
        // It was written already where the answer to the first attempt was lost.
        let row = try PostgresUserDirectory.row(link, "version, body")
        let found = (version: try row.int(0, 0), bytes: try row.bytes(0, 1))
        return found.version == version + 1 && found.bytes == bytes
      }
      // Otherwise another process was faster, and the contents have changed.
      if isWritten { return result }
    }
  }

  private func newest() async throws(ServerStoreError) -> (version: Int64, contents: DirectoryContents) {
    let known = known
    let newest = try await run { link throws(PostgresFailure) -> (version: Int64, contents: DirectoryContents) in
      if let known, try PostgresUserDirectory.row(link, "version").int(0, 0) == known.version { return known }
      return try PostgresUserDirectory.read(try PostgresUserDirectory.row(link, "version, body"))
    }
    self.known = newest
    return newest
  }

  /// The key with which all servers of the database sign tokens: the first that one of them drew.
  ///
  /// - Parameter drawn: becomes the key if there is none.
  public func tokenKey(_ drawn: [UInt8]) async throws(ServerStoreError) -> [UInt8] {
    try await run { link throws(PostgresFailure) in
      _ = try link.query("INSERT INTO sync_secret(name, body) VALUES ('token-key', $1) ON CONFLICT (name) DO NOTHING", .bytes(drawn))
      return try link.query("SELECT body FROM sync_secret WHERE name = 'token-key'").bytes(0, 0)
    }
  }

  private func run<R: Sendable>(
    _ body: @escaping @Sendable (PostgresLink) throws(PostgresFailure) -> R
  ) async throws(ServerStoreError) -> R {
    do throws(PostgresFailure) { return try await pool.transaction(body) } catch { throw error.error }
  }

  private static func row(_ link: PostgresLink, _ columns: String) throws(PostgresFailure) -> PostgresRows {
    let rows = try link.query("SELECT \(columns) FROM sync_users WHERE id = 1")
    guard rows.count == 1 else { throw PostgresFailure(.damaged, "The table 'sync_users' has no row") }
    return rows
  }

  private static func read(_ row: PostgresRows) throws(PostgresFailure) -> (version: Int64, contents: DirectoryContents) {
    let (version, bytes) = (try row.int(0, 0), try row.bytes(0, 1))
    if bytes.isEmpty { return (version, DirectoryContents()) }
    do { return (version, try JSONDecoder().decode(DirectoryContents.self, from: Data(bytes))) } catch {
      throw PostgresFailure(.damaged, "The row of 'sync_users' cannot be read")
    }
  }

  private static func bytes(_ contents: DirectoryContents) throws(ServerStoreError) -> [UInt8] {
    do { return Array(try JSONEncoder().encode(contents)) } catch {
      throw ServerStoreError(.unavailable, "The users cannot be written: \(error)")
    }
  }
}
#endif
