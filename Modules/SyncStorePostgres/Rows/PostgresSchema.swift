#if Sync
import SyncServer

/// The tables, and their version in a database. Plain SQL: no advisory locks, no triggers, no sequences.
enum PostgresSchema {
  /// The version of the tables that this build uses.
  static let version: Int64 = 5

  private static let tables = """
    CREATE TABLE sync_version(id bigint PRIMARY KEY, version bigint NOT NULL);
    CREATE TABLE sync_store(
      id bigint PRIMARY KEY, path text NOT NULL UNIQUE, history bytea NOT NULL, head bigint NOT NULL, log_start bigint NOT NULL,
      latest bytea NOT NULL, stable bigint NOT NULL, floor bytea NOT NULL, types bytea,
      checkpoint bigint, kept_bytes bigint NOT NULL DEFAULT 0, entry_bytes bigint NOT NULL DEFAULT 0);
    CREATE TABLE sync_entry(
      store bigint, seq bigint, kind bigint NOT NULL, replica bigint NOT NULL, is_continued boolean NOT NULL, stamp bytea,
      body bytea NOT NULL, before bytea, checkpoint bigint, PRIMARY KEY(store, seq));
    CREATE TABLE sync_stamp(store bigint, seq bigint, stamp bytea NOT NULL, PRIMARY KEY(store, seq));
    CREATE TABLE sync_object(
      store bigint, object bytea, last_seq bigint NOT NULL, has_pieces boolean NOT NULL, body bytea NOT NULL,
      kept_since bigint, PRIMARY KEY(store, object));
    CREATE INDEX sync_object_seq ON sync_object(store, last_seq);
    CREATE TABLE sync_piece(
      store bigint, object bytea, list bigint, piece bigint, body bytea NOT NULL, PRIMARY KEY(store, object, list, piece));
    CREATE TABLE sync_link(store bigint, target bytea, source bytea, PRIMARY KEY(store, target, source));
    CREATE TABLE sync_replica(
      store bigint, replica bigint, usr text NOT NULL, seen_at bigint NOT NULL, pending_base bigint NOT NULL,
      is_expired boolean NOT NULL, body bytea NOT NULL, PRIMARY KEY(store, replica));
    CREATE INDEX sync_replica_user ON sync_replica(store, usr) WHERE NOT is_expired;
    CREATE TABLE sync_handler(
      store bigint, name text, position bigint NOT NULL, author bigint NOT NULL, fence bigint NOT NULL, lease_end bigint NOT NULL,
      PRIMARY KEY(store, name));
    CREATE TABLE sync_users(id bigint PRIMARY KEY, version bigint NOT NULL, body bytea NOT NULL);
    CREATE TABLE sync_secret(name text PRIMARY KEY, body bytea NOT NULL);
    INSERT INTO sync_users VALUES (1, 0, '');
    INSERT INTO sync_version VALUES (1, 5);
    """

  /// The version of a database's tables; nil if it has none.
  static func version(of link: PostgresLink) throws(PostgresFailure) -> Int64? {
    do throws(PostgresFailure) {
      let rows = try link.query("SELECT version FROM sync_version WHERE id = 1")
      guard rows.count == 1 else { throw PostgresFailure(.damaged, "The table 'sync_version' has no row") }
      return try rows.int(0, 0)
    } catch {
      if case .refused("42P01") = error.kind { return nil }
      throw error
    }
  }

  /// The first statement of an upgrade: servers that are started together make it one after the other. Two that make an index do not wait
  /// for each other by themselves: neither sees the other's yet, and one fails.
  private static let turn = "SELECT 1 FROM sync_version WHERE id = 1 FOR UPDATE;"

  /// The statements that upgrade tables of a version to the next. They do nothing where another server has made them.
  private static let upgrades: [Int64: String] = [
    1: "ALTER TABLE IF EXISTS sync_log ADD COLUMN IF NOT EXISTS before bytea; UPDATE sync_version SET version = 2 WHERE version = 1;",
    2: "ALTER TABLE sync_store ADD COLUMN IF NOT EXISTS types bytea; UPDATE sync_version SET version = 3 WHERE version = 2;",
    3: """
    CREATE INDEX IF NOT EXISTS sync_replica_user ON sync_replica(store, usr) WHERE NOT is_expired;
    UPDATE sync_version SET version = 4 WHERE version = 3;
    """,
    // With another name, so that no server of the build before goes on beside this one: it would forget what checkpoints need.
    4: """
    ALTER TABLE IF EXISTS sync_log RENAME TO sync_entry;
    ALTER TABLE sync_store ADD COLUMN IF NOT EXISTS checkpoint bigint, ADD COLUMN IF NOT EXISTS kept_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN IF NOT EXISTS entry_bytes bigint NOT NULL DEFAULT 0;
    ALTER TABLE sync_entry ADD COLUMN IF NOT EXISTS checkpoint bigint;
    ALTER TABLE sync_object ADD COLUMN IF NOT EXISTS kept_since bigint;
    UPDATE sync_version SET version = 5 WHERE version = 4;
    """,
  ]

  /// Creates missing tables, and upgrades older ones. Several processes may call it at once.
  static func make(_ link: PostgresLink) throws(PostgresFailure) {
    if var found = try version(of: link) {
      while found < version, let upgrade = upgrades[found] {
        do throws(PostgresFailure) { try link.run("BEGIN; \(turn) \(upgrade) COMMIT") } catch {
          link.rollBack()
          throw error
        }
        found += 1
      }
      return
    }
    do throws(PostgresFailure) { try link.run("BEGIN; \(tables) COMMIT") } catch {
      link.rollBack()
      // Another process is creating them at the same moment.
      guard case .refused(let state) = error.kind, ["42P07", "23505", "42710"].contains(state) else { throw error }
    }
  }

  /// Throws if the tables do not have this build's version.
  static func check(_ link: PostgresLink) throws(PostgresFailure) {
    guard let found = try version(of: link) else {
      throw PostgresFailure(ServerStoreError(.unavailable, "The database has no tables of a server: make them first."))
    }
    guard found >= version else {
      throw PostgresFailure(
        ServerStoreError(
          .unavailable, "The database has tables of version \(found), and this build needs \(version): 'makesTables' makes them."))
    }
    guard found <= version else {
      throw PostgresFailure(
        ServerStoreError(.unavailable, "The database has tables of version \(found), and this build knows \(version): take a newer build."))
    }
  }
}
#endif
