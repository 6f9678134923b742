import CVivariumSQLite
import StorageInterface
import StoreValues

extension Connection {
  /// What the last commit of a connection has left: as long as nobody else commits, its next write finds just that, and
  /// asks the file for none of it.
  struct Settled {
    /// SQLite's number of what was committed.
    let dataVersion: UInt32
    let state: SnapshotState
    /// Of tables that were written to.
    let counters: [TableID: ObjectCounters]
  }

  /// Call inside a transaction that has just begun: forgets what is settled when another connection has committed since,
  /// of this process, another one or another program.
  func checkSettled() {
    if let settled, settled.dataVersion != csqlite_data_version(database) { self.settled = nil }
  }

  /// Call right after a commit.
  func settle(_ state: SnapshotState, _ counters: [TableID: ObjectCounters]) {
    settled = Settled(dataVersion: csqlite_data_version(database), state: state, counters: counters)
  }
}
