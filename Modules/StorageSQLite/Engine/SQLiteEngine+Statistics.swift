#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

extension SQLiteEngine {
  /// The pins are this process's, and those that other processes announced: SQLite does not report other readers.
  public func statistics() throws(StorageError) -> StorageStatistics {
    try checkOpen()
    var statistics = StorageStatistics()
    for path in file.allPaths {
      var info = stat()
      if stat(path, &info) == 0 { statistics.fileBytes += Int(info.st_blocks) * 512 }
    }
    let process = getpid()
    let pins = shared.withLock { $0.readConnections }.sorted { $0.version < $1.version }
      .map { VersionPin(version: $0.version, processID: process, sinceMilliseconds: $0.since) }
    let holders = HolderTable.holders(path: file.coordinationPath)
    statistics.pins = pins.named(by: holders.filter { $0.processID == process }, isComplete: true)
    statistics.pins += [].named(by: holders.filter { $0.processID != process }, isComplete: false)
    statistics.pins.sort { $0.version < $1.version }
    let read = try beginRead()
    defer { read.end() }
    guard let snapshot = read as? SQLiteReadTransaction else { return statistics }
    let connection = snapshot.connection
    let (pages, free) = (try connection.number(of: "page_count"), try connection.number(of: "freelist_count"))
    let pageSize = try connection.number(of: "page_size")
    statistics.freeBytes = Int(free * pageSize)
    // A frame is a page and a header of negligible size.
    if checkpointer.isHeld { statistics.heldBytes = Int(Int64(connection.logFrames.logged) * pageSize) }
    statistics.liveBytes = Int(max(0, pages - free) * pageSize)
    statistics.historyVersions = try connection.historyBounds()
    return statistics
  }
}

extension Connection {
  fileprivate func historyBounds() throws(StorageError) -> ClosedRange<UInt64>? {
    let statement = try take(StatementKey(.historyBounds)) {
      "SELECT (SELECT min(version) FROM _vivarium_history), (SELECT max(version) FROM _vivarium_history)"
    }
    defer { finish(statement) }
    guard try step(statement, "read the history"), !statement.isNull(0) else { return nil }
    let (first, last) = (UInt64(max(0, statement.int64(0))), UInt64(max(0, statement.int64(1))))
    return first <= last ? first...last : nil
  }
}
