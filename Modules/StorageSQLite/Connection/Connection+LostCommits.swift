import CVivariumSQLite
import StorageCoordination
import StorageInterface
import StoreValues

extension StoreFile {
  /// What its writers noted of the last durable commit. Read it before the version: a commit in between makes that newer.
  var durableNote: DurableNote? { FileIdentity(path: path).flatMap { DurableNote.read(coordinationPath, for: $0) } }

  /// Throws if something else lies where an existing store's log is expected: SQLite takes it for an empty log, writes over it, and
  /// removes it when it closes the file. `.corrupt` if it was a log, with durable commits that are not in the data file; `.foreignFile`
  /// otherwise. Creates and changes nothing.
  ///
  /// Not for the shared index: closing a descriptor of that would release the locks of this process's connections.
  func refuseForeignLog() throws(StorageError) {
    guard SQLiteSideFile.isForeign(logPath) else { return }
    if let note = durableNote {
      // What the data file has by itself. A file that cannot be read without its log had one.
      let connection = try? Connection.ours(self, isReadOnly: true, isImmutable: true)
      defer { connection?.shut() }
      let version = (try? connection?.readVersions().version) ?? Version(0)
      if note.version > version.rawValue { throw lostCommits(note, version) }
    }
    throw SideFile.foreign(logPath, "log")
  }

  fileprivate func lostCommits(_ note: DurableNote, _ version: Version) -> StorageError {
    StorageError(
      .corrupt, .engine,
      "'\(logPath)' is damaged: version \(note.version) was on the disk, and the newest that can be read is \(version.rawValue).",
      remedy: "Restore the file from a copy. To go on without the later commits, keep a copy of all its files and remove "
        + "'\(coordinationPath)'.")
  }
}

extension Connection {
  /// Whether closing leaves the log to whoever opens the store next, also if this is the last connection: otherwise SQLite moves the
  /// log's pages into the main file, makes that as long as it should be, with zeroes, and removes the log.
  func keepsLog(_ keeps: Bool) { csqlite_configure(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps ? 1 : 0) }

  /// Throws `.corrupt` if a durable commit is missing from the log. SQLite reads a log up to its first damaged frame, and takes
  /// what follows for the remains of a power cut. It is none if the log once held a later version that was synced.
  ///
  /// Does not throw if the log is gone or another one: then the file was put back from a copy, or another program has moved the
  /// log's pages into it. Call in a transaction that has read `version`.
  func checkLog(of file: StoreFile, _ version: Version, _ note: DurableNote) throws(StorageError) {
    guard note.version > version.rawValue, let logSalts, file.hasWrittenLog else { return }
    // No frames: damage in the first bytes, which hold the salts.
    guard logSalts == note.log || logFrames.logged == 0 else { return }
    throw file.lostCommits(note, version)
  }
}
