import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

extension SQLiteEngine {
  /// A shorter log nobody wants to begin anew.
  static let framesWorthRenewing: UInt32 = Checkpointer.framesWanted / 2

  /// Lets go of the log where the reads of this process that rest are of the newest version and all of the log is in the main
  /// file: then the next commit begins it anew. Changes nothing about what they read. From any thread, at any time; does
  /// nothing where there is nothing to do, for some nanoseconds.
  package func renewReads() {
    if mark.isStale { return }
    let (frames, now) = watch.withLock { watch in (watch?.frames ?? LogFrames(), watch?.state) }
    guard let now, frames.areAllMoved, frames.logged >= SQLiteEngine.framesWorthRenewing else { return }
    // One at a time; who comes meanwhile finds it done.
    renewed.withLockIfAvailable { renewed in
      if renewed == now { return }
      if renewReads(at: now) { renewed = now }
    }
  }

  /// True: none is left that stands on that state and needs the log.
  private func renewReads(at now: LogState) -> Bool {
    let readConnections = shared.withLock { $0.readConnections }
    var spare: Connection?
    var isDone = true
    for readConnection in readConnections {
      guard let holds = readConnection.holdsLog(at: now) else {
        isDone = false
        continue
      }
      if !holds { continue }
      guard let connection = spare ?? (try? takeReader()) else { return false }
      spare = connection
      guard stands(connection, at: now, readConnection.layout) else {
        isDone = false
        break
      }
      if let old = readConnection.exchange(connection, at: now) {
        renewCount.add(1, ordering: .relaxed)
        spare = old
      } else {
        isDone = false
      }
      if let spare, !endTransaction(spare) { break }
    }
    if let spare { giveBack(spare) }
    return isDone
  }

  /// Begins a read; whether it is of that state, and of the main file alone.
  private func stands(_ connection: Connection, at now: LogState, _ layout: SchemaLayout) -> Bool {
    do throws(StorageError) {
      try connection.run(StatementKey(.begin), "BEGIN")
      guard connection.logState == now, connection.logFrames.areAllMoved else { return false }
      connection.use(layout)
      try connection.run(StatementKey(.pin), "SELECT 1 FROM _vivarium_history WHERE 0")
      // What has not changed from before to after the snapshot was taken is what it is of.
      return connection.logState == now
    } catch { return false }
  }
}
