import StorageCoordination
import StorageInterface
import Synchronization

/// Reading the data file without a log: of a store that nobody writes, by those who may not, or should not, make files beside it.
///
/// Such a reader announces that first, and looks into the log afterwards. Writers may come and go: their commits are in a log, and
/// while somebody reads the data file alone, nobody moves the log into it, also not when the last writer closes. The reader finds
/// the commits at its next look, reads the log from then on, and leaves the data file once its last read of it has ended.
extension SQLiteEngine {
  /// Announces that the store is open, and decides whether to read it as immutable. Otherwise SQLite would create files beside
  /// it, which a reader should not do if there never was a writer, and often cannot.
  static func announce(
    _ file: StoreFile, _ options: OpenOptions
  ) throws(StorageError) -> (StorePresence?, isImmutable: Bool) {
    guard options.isReadOnly else {
      return (try StorePresence(path: file.coordinationPath, as: .writer, mode: file.sideMode), false)
    }
    let makesLog = file.readersMakeLog
    var presence: StorePresence?
    do throws(StorageError) {
      presence = try StorePresence(path: file.coordinationPath, as: makesLog ? .reader : .dataFileReader)
    } catch {
      // A bundled file has no coordination file, or one that cannot be locked.
      if error.code == .alreadyOpen { throw error }
    }
    return (presence, !makesLog && !file.hasWrittenLog)
  }

  /// A read-only engine that found nothing in a log reads the file as immutable. Once something is there, somebody writes, and the
  /// file is read like any other. Another program may also have written and closed; then everything read before is invalid.
  func followLog() throws(StorageError) {
    guard let seen = shared.withLock({ $0.isImmutable ? $0.stamp : nil }) else { return }
    let isImmutable = !file.hasWrittenLog
    let stamp = FileStamp(file.path)
    if isImmutable, stamp == seen { return }
    let connection = try Connection.ours(file, isReadOnly: true, isImmutable: isImmutable)
    try files.watch.withLock { watch throws(StorageError) in
      if !shared.withLock({ $0.isClosed }) { watch = try VersionWatch(connection, isImmutable: isImmutable) }
    }
    let old = shared.withLock { shared in
      shared.isImmutable = isImmutable
      shared.stamp = isImmutable ? stamp : nil
      defer { shared.idle = [] }
      return shared.idle
    }
    // Released here, outside the lock.
    _ = consume old
    leaveDataFileIfUnread()
  }

  /// Call when a connection that reads the data file alone is no longer used.
  func endImmutable() {
    shared.withLock { $0.immutableCount -= 1 }
    leaveDataFileIfUnread()
  }

  /// Lets writers move their log into the data file, if this process reads the log and has no read of the data file alone.
  func leaveDataFileIfUnread() {
    let isUnread = shared.withLock { !$0.isImmutable && $0.immutableCount == 0 }
    if isUnread { files.presence.withLock { $0?.leaveDataFile() } }
  }
}
