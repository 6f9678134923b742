import StorageCoordination
import StorageInterface
import Synchronization

/// What an engine has open beside its connections, and gives up after the last of them.
///
/// A class of its own, because the engine may be gone by then: it ends with its last reference, wherever that is let go, also by the
/// checkpointer, which cannot wait for itself.
final class EngineFiles: Sendable {
  let file: StoreFile
  let checkpointer: Checkpointer
  /// Created on demand: opening a store for reading needs one connection, not two.
  let watch = Mutex<VersionWatch?>(nil)
  /// Open from the first commit that we sync ourselves.
  let log = Mutex<LogFile?>(nil)
  /// Released when the engine releases the file.
  let presence: Mutex<StorePresence?>
  private let held: Mutex<HeldFiles?>
  /// There was no log before this engine's, so it should leave none.
  private let hasMadeLog: Bool

  init(_ file: StoreFile, _ checkpointer: Checkpointer, _ presence: StorePresence?, hasMadeLog: Bool) {
    (self.file, self.checkpointer, self.hasMadeLog) = (file, checkpointer, hasMadeLog)
    self.presence = Mutex(presence)
    held = Mutex(HeldFiles(path: file.path))
  }

  /// Closes the last connections, then everything else. Waits for the checkpointer, so it must not be called on its queue.
  func letGo(of unused: [Connection]) {
    checkpointer.close()
    // All connections before the presence: the last to close removes the log by its name, which may belong to another store
    // once the presence is released.
    for connection in unused { connection.shut() }
    watch.withLock { watch in
      watch?.shut()
      watch = nil
    }
    log.withLock { $0 = nil }
    if hasMadeLog, let connection = try? Connection.ours(file, isReadOnly: false) {
      // A read-only connection cannot remove the log; this one does, unless there are others.
      _ = try? connection.readVersions()
      connection.shut()
    }
    held.withLock { $0 = nil }
    presence.withLock { $0 = nil }
  }
}
