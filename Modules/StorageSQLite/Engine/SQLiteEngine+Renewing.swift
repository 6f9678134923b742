import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

extension SQLiteEngine {
  /// The log length in frames from which restarting it is worthwhile.
  static let framesWorthRenewing: UInt32 = Checkpointer.framesWanted / 2

  /// Releases the log if the idle reads of this process are of the newest version and the whole log is in the main file, so
  /// that the next commit restarts it. Does not change what they read. From any thread, at any time; takes some nanoseconds if
  /// there is nothing to do.
  package func renewReads() {
    if mark.isStale { return }
    let (frames, now) = files.watch.withLock { watch in (watch?.frames ?? LogFrames(), watch?.state) }
    guard let now, frames.areAllMoved, frames.logged >= SQLiteEngine.framesWorthRenewing else { return }
    // One at a time; a concurrent caller may skip it.
    renewed.withLockIfAvailable { renewed in
      if renewed == now { return }
      if renewReads(at: now) { renewed = now }
    }
  }

  /// True: no read remains that is on that state and needs the log.
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

  /// Begins a read; returns whether it is on the given state and needs only the main file.
  private func stands(_ connection: Connection, at now: LogState, _ layout: SchemaLayout) -> Bool {
    do throws(StorageError) {
      try connection.run(StatementKey(.begin), "BEGIN")
      guard connection.logState == now, connection.logFrames.areAllMoved else { return false }
      connection.use(layout)
      try connection.run(StatementKey(.pin), "SELECT 1 FROM _vivarium_history WHERE 0")
      // If the state did not change while the snapshot was taken, it is the snapshot's.
      return connection.logState == now
    } catch { return false }
  }
}
