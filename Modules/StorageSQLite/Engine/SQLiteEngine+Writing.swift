import CVivariumSQLite
import Dispatch
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

extension SQLiteEngine {
  /// As `StorageEngine` says: stands in the line of writers first, and takes SQLite's lock then.
  public func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    try checkOpen()
    guard let lock else {
      throw StorageError(.readOnly, .transaction, "The store is open for reading alone.", remedy: "Open it for writing.")
    }
    checkpointer.makeWay(deadline)
    // Ours first: it is fair, and keeps our processes from polling for SQLite's.
    let hold = try lock.acquire(deadline)
    let connection = try takeWriter()
    do throws(StorageError) {
      try begin(connection, deadline)
      connection.checkSettled()
      if let settled = connection.settled {
        connection.use(settled.state.layout)
        return SQLiteWriteTransaction(self, connection, settled.state, hold)
      }
      if try logForeignWrites(connection) {
        bell.ring()
        try begin(connection, deadline)
      }
      return SQLiteWriteTransaction(self, connection, try state(of: connection), hold)
    } catch {
      endWrite(connection, hold, [:])
      throw error
    }
  }

  private func takeWriter() throws(StorageError) -> Connection {
    let (isClosed, writer) = shared.withLock { shared in
      if shared.isClosed { return (true, Connection?.none) }
      shared.openCount += 1
      defer { shared.writer = nil }
      return (false, shared.writer)
    }
    if isClosed { throw .closedEngine }
    if let writer { return writer }
    do throws(StorageError) {
      let writer = try Connection.ours(
        file, isReadOnly: false, cacheKilobytes: Connection.writerCacheKilobytes)
      if pagesMax > 0 { try writer.execute("PRAGMA max_page_count = \(pagesMax)") }
      shared.withLock { $0.durability.connectionIsFull = nil }
      // Commits are counted by it.
      try watch.withLock { watch throws(StorageError) in try makeWatch(&watch) }
      commitFiles.withLock { $0 = CommitFiles(file) }
      // The log may be new, and our own syncs of it do not bring its name to the disk.
      try LogFile.syncDirectory(of: file.path)
      return writer
    } catch {
      shared.withLock { $0.openCount -= 1 }
      letGoIfUnused()
      throw error
    }
  }

  private func begin(_ connection: Connection, _ deadline: Deadline) throws(StorageError) {
    let isFull = shared.withLock { shared -> Bool? in
      guard shared.durability.connectionIsFull != shared.durability.isFull else { return nil }
      shared.durability.connectionIsFull = shared.durability.isFull
      return shared.durability.isFull
    }
    if let isFull { try connection.execute("PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")") }
    // What is left of the deadline is for programs that hold SQLite's lock and know nothing of ours.
    sqlite3_busy_timeout(connection.database, deadline.remaining?.milliseconds ?? .max)
    defer { sqlite3_busy_timeout(connection.database, Connection.patienceMilliseconds) }
    try connection.run(StatementKey(.beginWrite), "BEGIN IMMEDIATE")
  }

  func lastIssuedKey(_ table: TableID) -> Int64 { shared.withLock { $0.issued[table] ?? 0 } }

  /// Before the commit in the file: what may be missing for its durability is missed now, while nobody sees it.
  func prepareCommit(_ durability: Durability) throws(StorageError) {
    try checkFiles(beforeCommit: true)
    guard durability == .full, shared.withLock({ $0.durability.connectionIsFull }) != true else { return }
    try log.withLock { log throws(StorageError) in
      if log == nil { log = try LogFile(database: file.path) }
    }
  }

  /// Throws when whoever opens the store now would find other files than those that are written.
  private func checkFiles(beforeCommit: Bool) throws(StorageError) {
    if let files = commitFiles.withLock({ $0 }) { try files.check(file, beforeCommit: beforeCommit) }
  }

  /// After the commit in the file: makes it as durable as was asked for, and notifies everybody. `isNewLayout`: the catalog came
  /// with it, and nobody needs to read it.
  func committed(_ state: SnapshotState, isNewLayout: Bool, _ durability: Durability) throws(StorageError) {
    // Replaced since it was looked at before: what was written is in files that nobody will find.
    try checkFiles(beforeCommit: false)
    if isNewLayout { remember(state.layout, Int64(clamping: state.version.rawValue)) }
    let wasFull = shared.withLock { shared in
      defer { shared.durability.note(durability) }
      shared.newest = state
      return shared.durability.connectionIsFull ?? false
    }
    bell.ring()
    // The writer's lock is still held, so nobody has committed a version since.
    let frames = watch.withLock { watch in
      watch?.note(state.version)
      return watch?.frames ?? LogFrames()
    }
    checkpointer.committed(frames)
    switch durability {
    case .full: if !wasFull { try log.withLock { $0 }?.syncCommit() }
    case .grouped(let bound): if !wasFull { checkpointer.syncLog(within: bound) }
    case .relaxed: break
    }
  }

  /// Ends a write however it went: rolls back what is open and passes the lock on.
  func endWrite(_ connection: Connection, _ hold: WriterHold, _ lastKeys: [TableID: Int64]) {
    if mark.isStale { return }
    let isUsable = endTransaction(connection)
    connection.trimCache()
    let surplus = shared.withLock { shared -> Connection? in
      shared.openCount -= 1
      for (table, key) in lastKeys { shared.issued[table] = max(shared.issued[table] ?? 0, key) }
      guard isUsable, !shared.isClosed else { return connection }
      shared.writer = connection
      return nil
    }
    // While the lock is held, and before the store counts as closed: whoever closes last takes the log away by its name.
    surplus?.shut()
    hold.release()
    if surplus != nil { letGoIfUnused() }
  }

  /// Closes every connection once the engine is closed and no transaction is open.
  func letGoIfUnused() {
    let unused = shared.withLock { shared -> [Connection]? in
      guard shared.isClosed, shared.openCount == 0 else { return nil }
      let all = shared.idle + (shared.writer.map { [$0] } ?? [])
      shared.idle = []
      shared.writer = nil
      return all
    }
    guard let unused else { return }
    // Closing a connection of the parent's does nothing.
    if mark.isStale { return }
    // The checkpointer may be the last to give a connection back, and would wait for itself.
    if checkpointer.isCaller { DispatchQueue.global().async { [self] in letGo(of: unused) } } else { letGo(of: unused) }
  }

  private func letGo(of unused: [Connection]) {
    checkpointer.close()
    // Every connection before the presence: the last to close takes the log away by its name, and by then another store
    // may have it.
    for connection in unused { connection.shut() }
    watch.withLock { watch in
      watch?.shut()
      watch = nil
    }
    log.withLock { $0 = nil }
    letGoOfFile()
  }
}

extension Duration {
  /// Rounded up, within what SQLite takes.
  fileprivate var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < Int64(Int32.max / 1000) - 1 else { return .max }
    return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
