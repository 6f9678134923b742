import CVivariumSQLite

/// A read connection has a small page cache, and takes what is left of the process's budget once it reads much.
extension Connection {
  /// The page cache of a read connection at first, in KiB. Allocated as pages are read, so small stores use little.
  static let readerCacheKilobytes = 8 << 10
  /// The page cache of the writing connection: holds the index pages that a bulk load revisits.
  static let writerCacheKilobytes = 64 << 10
  /// The largest cache that an idle writer may keep.
  private static let idleCacheBytesMax: Int32 = 16 << 20

  /// Takes what is left of the budget, if this connection has a budget and none of it yet.
  @inline(__always) func widenCache() {
    guard let cacheBudget, extraKilobytes == 0, !cacheBudget.isEmpty else { return }
    widenCache(from: cacheBudget)
  }

  @inline(never) private func widenCache(from budget: PageCacheBudget) {
    extraKilobytes = budget.take()
    if extraKilobytes > 0 { setCacheKilobytes(Connection.readerCacheKilobytes + extraKilobytes) }
  }

  /// Gives back what was taken of the budget. SQLite frees the pages beyond the smaller size.
  func narrowCache() {
    guard extraKilobytes > 0 else { return }
    setCacheKilobytes(Connection.readerCacheKilobytes)
    returnBudget()
  }

  /// For a connection that is closed.
  func returnBudget() {
    cacheBudget?.giveBack(extraKilobytes)
    extraKilobytes = 0
  }

  /// The size is a hint: a connection that could not set it reads right.
  private func setCacheKilobytes(_ kilobytes: Int) { try? execute("PRAGMA cache_size = -\(kilobytes)") }

  /// Frees the page cache that a large write has left: readers have caches of their own.
  func trimCache() {
    var (used, most): (Int32, Int32) = (0, 0)
    guard sqlite3_db_status(database, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0) == SQLITE_OK,
      used > Connection.idleCacheBytesMax
    else { return }
    sqlite3_db_release_memory(database)
  }
}
