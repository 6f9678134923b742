import CVivariumSQLite
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

extension SQLiteBackend: KeyChanging {
  /// As `KeyChanging` describes: writes a copy beside the file, and gives it the file's name.
  public func changeKey(to key: (any StoreKey)?, _ progress: (CopyProgress) -> Step) throws(StorageError) {
    let file = file
    try HeldFiles.refuseInherited(file.path)
    let seal = key.map { FileSeal($0) }
    if file.has(seal) { return }
    _ = try file.prepare(OpenOptions(createsIfMissing: false))
    // Whoever opens the store now finds it locked; without the file nobody would look.
    _ = try FileWriterLock(path: file.coordinationPath, mode: file.sideMode)
    try StorePresence.whileAbsent(path: file.coordinationPath) { () throws(StorageError) in
      try file.exchange(for: seal, progress)
    }
  }
}

extension StoreFile {
  /// Whether the file is a store that is encrypted with exactly this key, or not encrypted.
  fileprivate func has(_ seal: FileSeal?) -> Bool {
    guard case .ours(_, let mark) = try? SQLiteHeader.read(path) else { return false }
    var other = self
    other.seal = seal
    do throws(StorageError) { try other.check(mark) } catch { return false }
    return true
  }

  /// Replaces the file by a copy with another key. Nobody has the store open.
  ///
  /// - Parameter synced: runs when the copy is complete, before it takes the file's name; for tests.
  func exchange(
    for seal: FileSeal?, _ progress: (CopyProgress) -> Step, synced: () throws -> Void = {}
  ) throws(StorageError) {
    // First: once the name leads to the new file, nothing may fail any more.
    let folder = try OpenFolder(of: path)
    let made = try AsideFile(for: path, mode: 0o600)
    defer { made.remove() }
    let aside = StoreFile(path: made.path, seal: seal)
    var copied: FileStamp?
    try made.write { () throws(StorageError) in
      copied = try copy(into: aside, progress)
      try aside.turnIntoStore()
      // Last: until it is complete, the copy is its maker's alone.
      var number = FilePermissions(path: path)?.apply(to: made.file) ?? ENOENT
      guard number == 0 else { throw .system(number, doing: "keep the owner and the permissions of", path: path) }
      number = made.sync()
      guard number == 0 else { throw .system(number, doing: "sync the copy beside", path: path) }
    }
    try? synced()
    // The last connection that closed has removed the log, unless a program of another kind has the file open. If one has written since
    // the copy, and closed, the file is another.
    guard !hasLog, copied == FileStamp(path) else {
      throw StorageError(.alreadyOpen, .engine, "'\(path)' is open in another program.", remedy: "Close it there first.")
    }
    guard rename(aside.path, path) == 0 else { throw .system(errno, doing: "replace", path: path) }
    // The caller would take an error for the old file's. Without the sync a power cut may bring that back, whole.
    try? folder.sync()
  }

  /// Returns the stamp of what was copied.
  private func copy(into aside: StoreFile, _ progress: (CopyProgress) -> Step) throws(StorageError) -> FileStamp? {
    let note = durableNote
    // Keeps other programs from writing meanwhile.
    let guardian = try Connection.ours(self, isReadOnly: false, keepsLog: hasWrittenLog)
    defer { guardian.shut() }
    let version = try guardian.readVersions().version
    guardian.findLog()
    if let note { try guardian.checkLog(of: self, version, note) }
    try guardian.checkPages(of: self)
    guardian.keepsLog(false)
    // Now, so that closing the guardian moves nothing into the file later, and whatever changes it is somebody else.
    try guardian.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try guardian.execute("BEGIN IMMEDIATE")
    let stamp = FileStamp(path)
    let connection = try Connection.ours(self, isReadOnly: false, takesURIs: true)
    defer { connection.shut() }
    let expected = try connection.bytesOfPages()
    try connection.vacuum(into: aside, for: path, expected: Int(clamping: expected), progress)
    return stamp
  }
}
