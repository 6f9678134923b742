import CVivariumSQLite
import Dispatch
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

extension SQLiteEngine {
  /// As `StorageEngine` describes: acquires the writers' lock first, then SQLite's.
  public func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    try checkOpen()
    guard let lock else {
      throw StorageError(.readOnly, .transaction, "The store is open for reading alone.", remedy: "Open it for writing.")
    }
    checkpointer.makeWay(deadline)
    // Ours first: it is fair, and saves our processes polling for SQLite's.
    let hold = try lock.acquire(deadline)
    let connection = try takeWriter()
    do throws(StorageError) {
      try begin(connection, deadline)
      connection.checkSettled()
      let settled = connection.settled?.state
      if settled == nil, try logForeignWrites(connection) {
        bell.ring()
        try begin(connection, deadline)
      }
      files.watch.withLock { $0?.noteBeginning() }
      guard let settled else {
        return SQLiteWriteTransaction(self, connection, try state(of: connection), hold, PositionCache(), ListTails())
      }
      connection.use(settled.layout)
      return SQLiteWriteTransaction(self, connection, settled, hold, takeLists(settled.version), knownTails(settled.version))
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
      // The watch counts commits.
      try files.watch.withLock { watch throws(StorageError) in try makeWatch(&watch) }
      commitFiles.withLock { $0 = CommitFiles(file) }
      // The log may be new, and syncing it does not sync its directory entry.
      try Folder.sync(of: file.path)
      return writer
    } catch {
      shared.withLock { $0.openCount -= 1 }
      letGoIfUnused()
      throw error
    }
  }

  private func begin(_ connection: Connection, _ deadline: Deadline) throws(StorageError) {
    let isFull = shared.withLock { shared -> Bool? in
      shared.durability.connectionIsFull == shared.durability.isFull ? nil : shared.durability.isFull
    }
    if let isFull {
      try connection.execute("PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")")
      // Not before: a durable commit at a level that could not be set would be synced by nobody.
      shared.withLock { $0.durability.connectionIsFull = isFull }
    }
    // The rest of the deadline is for programs that hold SQLite's lock without ours.
    sqlite3_busy_timeout(connection.database, deadline.remaining?.milliseconds ?? .max)
    defer { sqlite3_busy_timeout(connection.database, Connection.patienceMilliseconds) }
    try connection.run(StatementKey(.beginWrite), "BEGIN IMMEDIATE")
  }

  func lastIssuedKey(_ table: TableID) -> Int64 { shared.withLock { $0.issued[table] ?? 0 } }

  /// Call before the commit: if a resource for its durability is missing, it fails now, while the commit is not visible.
  func prepareCommit(_ durability: Durability) throws(StorageError) {
    try checkFiles(beforeCommit: true)
    guard durability == .full, shared.withLock({ $0.durability.connectionIsFull }) != true else { return }
    try files.log.withLock { log throws(StorageError) in
      if log == nil { log = try LogFile(database: file.path) }
    }
  }

  /// Throws if opening the store now would find other files than those being written.
  private func checkFiles(beforeCommit: Bool) throws(StorageError) {
    if let files = commitFiles.withLock({ $0 }) { try files.check(file, beforeCommit: beforeCommit) }
  }

  /// Call after the commit: makes it as durable as requested, and notifies everybody. `isNewLayout`: the commit includes the
  /// catalog, so nobody needs to read it.
  func committed(_ state: SnapshotState, isNewLayout: Bool, _ durability: Durability) throws(StorageError) {
    // Replaced since the check before the commit: it is in files that nobody will find.
    try checkFiles(beforeCommit: false)
    if isNewLayout { remember(state.layout, Int64(clamping: state.version.rawValue)) }
    let wasFull = shared.withLock { shared in
      defer { shared.durability.note(durability) }
      shared.newest = state
      return shared.durability.connectionIsFull ?? false
    }
    // The writer's lock is still held, so no other version has been committed.
    let (frames, salts) = files.watch.withLock { watch in
      watch?.note(state.version)
      watch?.markLog()
      return (watch?.frames ?? LogFrames(), watch?.salts)
    }
    bell.ringForCommit()
    checkpointer.committed(frames)
    switch durability {
    case .full:
      if !wasFull { try files.log.withLock { $0 }?.syncCommit() }
      if let salts, let data = commitFiles.withLock({ $0?.data }) {
        lock?.note(DurableNote(version: state.version.rawValue, log: salts), for: data)
      }
    case .grouped(let bound): if !wasFull { checkpointer.syncLog(within: bound) }
    case .relaxed: break
    }
  }

  /// Ends a write, committed or not: rolls back an open transaction and releases the lock.
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
    // While the lock is held, and before the store counts as closed: the last to close removes the log by its name.
    surplus?.shut()
    hold.release()
    if surplus != nil { letGoIfUnused() }
  }

  /// Closes all connections once the engine is closed and no transaction is open.
  func letGoIfUnused() {
    let unused = shared.withLock { shared -> [Connection]? in
      guard shared.isClosed, shared.openCount == 0 else { return nil }
      let all = shared.idle + (shared.writer.map { [$0] } ?? [])
      shared.idle = []
      shared.writer = nil
      return all
    }
    guard let unused else { return }
    // Closing connections inherited from a parent process does nothing.
    if mark.isStale { return }
    // The checkpointer may return the last connection, or be the last to have the engine, and would wait for itself. The engine may be gone
    // by then: only what is left of it is kept.
    let files = files
    if files.checkpointer.isCaller { DispatchQueue.global().async { files.letGo(of: unused) } } else { files.letGo(of: unused) }
  }
}

extension Duration {
  /// Rounded up, clamped to SQLite's range.
  fileprivate var milliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < Int64(Int32.max / 1000) - 1 else { return .max }
    return Int32(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
