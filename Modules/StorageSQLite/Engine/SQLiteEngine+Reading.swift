import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

extension SQLiteEngine {
  /// As `StorageEngine` describes; the reader has a connection of its own until it ends.
  public func beginRead() throws(StorageError) -> any ReadTransaction {
    try mark.check()
    if options.isReadOnly { try followLog() }
    let connection = try takeReader()
    do throws(StorageError) {
      let (state, logState, isOwn) = try beginSnapshot(connection)
      let readConnection = ReadConnection(connection, state, logState)
      let read = SQLiteReadTransaction(self, readConnection, sharesLists: isOwn)
      shared.withLock { $0.readConnections.append(readConnection) }
      return read
    } catch {
      giveBack(connection)
      throw error
    }
  }

  /// Begins a read and returns the file's state in it. Retries if a commit came in between: without a known state, the read
  /// could not be given another connection. `isOwn`: the state is exactly what this process's last commit left.
  private func beginSnapshot(_ connection: Connection) throws(StorageError) -> (SnapshotState, LogState?, isOwn: Bool) {
    for _ in 0..<3 {
      try connection.run(StatementKey(.begin), "BEGIN")
      let before = connection.logState
      let (state, isOwn) = if let known = try knownState(of: connection) { known } else { (try state(of: connection), false) }
      if connection.logIndex == nil || (before != nil && before == connection.logState) { return (state, before, isOwn) }
      guard endTransaction(connection) else { break }
    }
    if !connection.isInTransaction { try connection.run(StatementKey(.begin), "BEGIN") }
    return (try state(of: connection), nil, false)
  }

  /// The version and layout of a connection's snapshot, if nothing was committed since this process's last commit: then only
  /// the file's first page is read. Fixes the snapshot.
  private func knownState(of connection: Connection) throws(StorageError) -> (SnapshotState, isOwn: Bool)? {
    guard let newest = shared.withLock({ $0.newest }) else { return nil }
    // Begins the read transaction without reading rows.
    try connection.run(StatementKey(.pin), "SELECT 1 FROM _vivarium_history WHERE 0")
    // Checked afterwards: if nothing was committed until now, the snapshot has that version.
    let (version, isOwn) = files.watch.withLock { ($0?.known(), $0?.isOwn ?? false) }
    guard version == newest.version else { return nil }
    connection.use(newest.layout)
    return (newest, isOwn)
  }

  /// The version and layout of a connection's snapshot. Fixes the snapshot.
  ///
  /// Throws `.corrupt` if the history ends before the catalog was written, because its last row is never trimmed: commits would get
  /// versions that others had. Who opens the file for reading alone still gets what is there.
  func state(of connection: Connection) throws(StorageError) -> SnapshotState {
    let (version, catalogVersion) = try connection.readVersions()
    let layout: SchemaLayout
    if let known = shared.withLock({ $0.layout }), known.version == catalogVersion {
      layout = known.layout
    } else {
      layout = SchemaLayout(try connection.readCatalog())
      remember(layout, catalogVersion)
    }
    guard options.isReadOnly || Int64(clamping: version.rawValue) >= catalogVersion else {
      throw StorageError(
        .corrupt, .engine,
        "The history of '\(file.path)' ends with version \(version.rawValue); its catalog is of version \(catalogVersion).",
        remedy: "Restore the file from a copy, or take out what can be read with 'inspect salvage'.")
    }
    connection.use(layout)
    return SnapshotState(version: version, layout: layout)
  }

  func remember(_ layout: SchemaLayout, _ version: Int64) {
    shared.withLock { shared in
      if version >= shared.layout?.version ?? 0 { shared.layout = (version, layout) }
    }
  }

  func takeReader() throws(StorageError) -> Connection {
    let (isClosed, stamp, idle) = shared.withLock { shared in
      if shared.isClosed { return (true, FileStamp?.none, Connection?.none) }
      shared.openCount += 1
      let stamp = shared.isImmutable ? shared.stamp : nil
      if stamp != nil { shared.immutableCount += 1 }
      return (false, stamp, shared.idle.popLast())
    }
    if isClosed { throw .closedEngine }
    if let idle { return idle }
    do throws(StorageError) {
      let connection = try Connection.ours(file, isReadOnly: options.isReadOnly, isImmutable: stamp != nil)
      connection.stamp = stamp
      connection.cacheBudget = cacheBudget
      if stamp == nil {
        try connection.run(StatementKey(.pin), "SELECT 1 FROM _vivarium_history WHERE 0")
        connection.findLog()
      }
      return connection
    } catch {
      shared.withLock { $0.openCount -= 1 }
      if stamp != nil { endImmutable() }
      letGoIfUnused()
      throw error
    }
  }

  func endRead(_ readConnection: ReadConnection) {
    // Never released: from here on nobody exchanges the connection.
    readConnection.take()
    let isOldest = shared.withLock { shared in
      if let i = shared.readConnections.firstIndex(where: { $0 === readConnection }) {
        shared.readConnections.swapAt(i, shared.readConnections.count - 1)
        shared.readConnections.removeLast()
      }
      return shared.readConnections.allSatisfy { $0.version >= readConnection.version }
    }
    let frames = readConnection.connection.logFrames
    giveBack(readConnection.connection)
    // It may have kept a long log from restarting, and perhaps no commit follows that would trigger a checkpoint.
    if isOldest, frames.logged >= Checkpointer.framesMax { checkpointer.released() }
  }

  func giveBack(_ connection: Connection) {
    if mark.isStale { return }
    let isUsable = endTransaction(connection)
    // The last one in use keeps its pages for the next read, which gets this connection. While others read, its share is theirs:
    // a store that moves to a newer version begins the new read before it ends the old.
    if shared.withLock({ $0.openCount > 1 }) { connection.narrowCache() }
    // Released outside the lock, because closing a connection takes time.
    let surplus = shared.withLock { shared -> Connection? in
      shared.openCount -= 1
      guard isUsable, !shared.isClosed, shared.idle.count < SQLiteEngine.idleMax, connection.stamp == shared.stamp else {
        return connection
      }
      shared.idle.append(connection)
      return nil
    }
    if connection.stamp != nil { endImmutable() }
    if let surplus {
      surplus.shut()
      letGoIfUnused()
    }
  }

  /// Rolls back any open transaction. False: the connection is unusable.
  func endTransaction(_ connection: Connection) -> Bool {
    guard connection.isInTransaction else { return true }
    do throws(StorageError) {
      try connection.run(StatementKey(.rollback), "ROLLBACK")
      return true
    } catch {
      return !connection.isInTransaction
    }
  }
}
