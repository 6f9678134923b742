import StorageInterface
import StoreValues
import Synchronization

/// Work counters, for tests.
extension SQLiteEngine {
  /// The number of statements the transaction's connection has prepared in its life; 0 for another engine's.
  package static func prepareCount(of transaction: any StorageReading) -> Int {
    (transaction as? Snapshot)?.connection.prepareCount ?? 0
  }

  /// The number of cached statements the transaction's connection has used in its life; 0 for another engine's.
  package static func useCount(of transaction: any StorageReading) -> Int {
    (transaction as? Snapshot)?.connection.takeCount ?? 0
  }

  /// The number of query statements the transaction's connection has cached; 0 for another engine's.
  package static func keptQueryCount(of transaction: any StorageReading) -> Int {
    (transaction as? Snapshot)?.connection.texts.count ?? 0
  }

  /// SQLite's plan for a statement on the transaction's connection, one line per step.
  package static func plan(of text: String, in transaction: any StorageReading) throws(StorageError) -> [String] {
    guard let connection = (transaction as? Snapshot)?.connection else { return [] }
    let statement = try connection.take(text: "EXPLAIN QUERY PLAN " + text)
    defer { connection.finish(statement) }
    var lines: [String] = []
    while try connection.step(statement, "explain") {
      lines.append(String(decoding: statement.bytes(3), as: UTF8.self))
    }
    return lines
  }

  /// The SQL texts that read an index run, one for each part.
  package static func statements(
    for range: IndexRange, in index: IndexID, descending: Bool, of transaction: any StorageReading
  ) throws(StorageError) -> [String] {
    guard let snapshot = transaction as? Snapshot else { return [] }
    let run = try IndexRun(try snapshot.layout.index(index), range)
    return run.parts.map { run.text($0, descending: descending, counting: false) }
  }

  /// Whether the connection that watches for commits is open.
  package var isWatching: Bool { files.watch.withLock { $0 != nil } }

  /// The number of attempted checkpoints.
  package var checkpointAttempts: Int { checkpointer.attempts }

  /// The frames in the log, and how many of them are in the main file too.
  package var logFrames: (logged: UInt32, moved: UInt32) {
    let frames = files.watch.withLock { $0?.frames ?? LogFrames() }
    return (frames.logged, frames.moved)
  }

  /// How many idle reads were given another connection so that they do not need the log.
  package var renewals: Int { renewCount.load(ordering: .relaxed) }

  /// Makes all further syncs of commits fail, by a device that cannot be synced.
  package func failSyncs() throws(StorageError) {
    let device = try LogFile(path: "/dev/null")
    files.log.withLock { $0 = device }
  }

  /// Requests a checkpoint now.
  package func requestCheckpoint() { checkpointer.released() }

  /// Waits until the checkpointer is idle.
  package func waitForCheckpoints() { checkpointer.wait() }
}
