import StorageInterface
import StoreValues

/// A snapshot of one version: a connection of its own inside a read transaction.
///
/// Safe to send: the storage interface has one thread at a time use a transaction, and nothing in it is tied to a thread. What it
/// shares with others is the engine, which is safe from any thread.
final class SQLiteReadTransaction: Snapshot, ReadTransaction, @unchecked Sendable {
  /// What the file looked like, where it is read as one that nobody writes.
  private let stamp: FileStamp?

  init(_ engine: SQLiteEngine, _ readConnection: ReadConnection) {
    stamp = readConnection.connection.stamp
    super.init(engine, readConnection, isWriting: false)
  }

  deinit { end() }

  override func refuse() throws(StorageError) {
    try super.refuse()
    // Read as a file that nobody writes: when somebody did, pages of two versions would be taken for one.
    if let stamp, stamp != FileStamp(engine.file.path) {
      throw StorageError(
        .snapshotExpired, .transaction, "Another program has written '\(engine.file.path)' while it was read.",
        remedy: "End the transaction and begin another.")
    }
  }

  override func close() { engine.endRead(leaveConnection()) }
}
