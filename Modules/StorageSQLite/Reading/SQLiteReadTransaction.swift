import StorageInterface
import StoreValues

/// A snapshot of one version: a connection inside a read transaction.
///
/// Safe to send: the storage interface allows one thread at a time to use a transaction, and nothing in it is tied to a thread.
/// It shares only the engine, which is safe from any thread.
final class SQLiteReadTransaction: Snapshot, ReadTransaction, @unchecked Sendable {
  /// The file's stamp, if it is read as immutable.
  private let stamp: FileStamp?

  init(_ engine: SQLiteEngine, _ readConnection: ReadConnection, sharesLists: Bool) {
    stamp = readConnection.connection.stamp
    super.init(engine, readConnection, isWriting: false, sharesLists: sharesLists)
  }

  deinit { end() }

  override func refuse() throws(StorageError) {
    try super.refuse()
    // The file is read as immutable: if somebody wrote it, pages of two versions would be mixed.
    if let stamp, stamp != FileStamp(engine.file.path) { throw .rewritten(engine.file.path) }
  }

  override func close() { engine.endRead(leaveConnection()) }
}
