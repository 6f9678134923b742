import Storage
import Values

/// A snapshot of one version: a connection of its own inside a read transaction.
///
/// Safe to send: the seam has one thread at a time use a transaction, and nothing in it is tied to a thread. What it
/// shares with others is the engine, which is safe from any thread.
final class SQLiteReadTransaction: Snapshot, ReadTransaction, @unchecked Sendable {
  deinit { end() }

  override func close() { engine.endRead(connection, self) }
}
