import CVivariumSQLite
import StorageInterface
import StoreValues

extension Connection {
  /// The state after a connection's last commit. While nobody else commits, its next write begins with exactly this state and
  /// need not read it from the file.
  struct Settled {
    /// SQLite's data version after the commit.
    let dataVersion: UInt32
    let state: SnapshotState
    /// The counters of the tables that were written.
    let counters: [TableID: ObjectCounters]
  }

  /// Call inside a transaction that has just begun. Discards the settled state if another connection, of this process or
  /// another, has committed since.
  func checkSettled() {
    if let settled, settled.dataVersion != csqlite_data_version(database) { self.settled = nil }
  }

  /// Call right after a commit.
  func settle(_ state: SnapshotState, _ counters: [TableID: ObjectCounters]) {
    settled = Settled(dataVersion: csqlite_data_version(database), state: state, counters: counters)
  }
}
