import StorageInterface
import StoreValues
import Synchronization

/// Counts of work, for tests.
extension SQLiteEngine {
  /// How many statements the transaction's connection has prepared in its life; 0 for another engine's.
  package static func prepareCount(of transaction: any StorageReading) -> Int {
    (transaction as? Snapshot)?.connection.prepareCount ?? 0
  }

  /// How many kept statements the transaction's connection has used in its life; 0 for another engine's.
  package static func useCount(of transaction: any StorageReading) -> Int {
    (transaction as? Snapshot)?.connection.takeCount ?? 0
  }

  /// How many statements of queries the transaction's connection keeps; 0 for another engine's.
  package static func keptQueryCount(of transaction: any StorageReading) -> Int {
    (transaction as? Snapshot)?.connection.texts.count ?? 0
  }

  /// How the transaction's connection would run a statement, a line a step.
  package static func plan(of text: String, in transaction: any StorageReading) throws(StorageError) -> [String] {
    guard let connection = (transaction as? Snapshot)?.connection else { return [] }
    let statement = try connection.take(text: "EXPLAIN QUERY PLAN " + text)
    defer { connection.finish(statement) }
    var lines: [String] = []
    while try connection.step(statement, "explain") {
      lines.append(String(decoding: statement.bytes(3, isText: true), as: UTF8.self))
    }
    return lines
  }

  /// The text by which a run of an index is read, one for each part.
  package static func statements(
    for range: IndexRange, in index: IndexID, descending: Bool, of transaction: any StorageReading
  ) throws(StorageError) -> [String] {
    guard let snapshot = transaction as? Snapshot else { return [] }
    let run = try IndexRun(try snapshot.layout.index(index), range)
    return run.parts.map { run.text($0, descending: descending, counting: false) }
  }

  /// Whether a connection is open that watches for commits.
  package var isWatching: Bool { watch.withLock { $0 != nil } }

  /// How often a checkpoint was tried.
  package var checkpointAttempts: Int { checkpointer.attempts }

  /// Frames in the log, and those that are in the main file too.
  package var logFrames: (logged: UInt32, moved: UInt32) {
    let frames = watch.withLock { $0?.frames ?? LogFrames() }
    return (frames.logged, frames.moved)
  }

  /// How many resting reads were given another connection, so that they do not need the log.
  package var renewals: Int { renewCount.load(ordering: .relaxed) }

  /// From now on commits are synced through a device that cannot be: the disk of a test that fails.
  package func failSyncs() throws(StorageError) {
    let device = try LogFile(path: "/dev/null")
    log.withLock { $0 = device }
  }

  /// Has a checkpoint tried now.
  package func requestCheckpoint() { checkpointer.released() }

  /// Waits until the checkpointer has nothing to do.
  package func waitForCheckpoints() { checkpointer.wait() }
}
