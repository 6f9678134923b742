import CVivariumSQLite
import CVivariumSystem
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

/// The files of one store, before it is open: which they are, whether they can be opened, and how they are made.
struct StoreFile {
  let path: String
  /// The key that its data are encrypted with; nil where they are not.
  var seal: FileSeal?
  var coordinationPath: String { path + ".coord" }
  var bellPath: String { path + ".bell" }
  var logPath: String { path + "-wal" }
  /// All of them, the main one first.
  var allPaths: [String] { [path, logPath, path + "-shm", bellPath, coordinationPath] }

  /// What `prepare` has made, to be taken away again when the open fails.
  struct Made {
    /// The store itself.
    var isStore = false
    /// Side files that were not there.
    var sideFiles: [String] = []
  }

  /// Makes sure that there is a store that can be opened so, and makes it where that is asked for. After a throw nothing is left
  /// that was not there.
  func prepare(_ options: OpenOptions) throws(StorageError) -> Made {
    var made = Made()
    made.sideFiles = options.isReadOnly ? [] : [bellPath, coordinationPath].filter { access($0, F_OK) != 0 }
    switch try SQLiteHeader.read(path) {
    case .ours(let format, let mark):
      try check(format, options)
      try check(mark)
      try checkName()
    case .foreign(let reason): throw foreign(reason)
    case .missing, .empty:
      guard options.createsIfMissing, !options.isReadOnly else {
        throw StorageError(
          .fileNotFound, .engine, "There is no store at '\(path)'.", remedy: "Check the path, or let the store be made.")
      }
      try checkName()
      do throws(StorageError) { made.isStore = try create() } catch {
        removeTraces(made)
        throw error
      }
    }
    return made
  }

  private func check(_ format: Int32, _ options: OpenOptions) throws(StorageError) {
    guard format >= 1 && format <= MetaTables.format else {
      throw StorageError(
        .unsupportedVersion, .engine,
        "'\(path)' has format \(format); this build knows formats up to \(MetaTables.format).",
        remedy: "Open the file with a newer build.")
    }
    if !options.isReadOnly, access(path, W_OK) != 0 { throw .system(errno, doing: "write", path: path) }
  }

  /// Whether the key that was given is the file's.
  func check(_ mark: SealMark?) throws(StorageError) {
    switch (mark, seal) {
    case (nil, nil): break
    case (_?, nil):
      throw StorageError(
        .missingKey, .engine, "'\(path)' is encrypted, and no key was given.", remedy: "Open it with the key that it was made with.")
    case (nil, _?):
      throw StorageError(
        .notEncrypted, .engine, "'\(path)' is not encrypted, and a key was given.",
        remedy: "Open it without a key, and write an encrypted copy with 'writeCopy(to:encryption:)'.")
    case (let mark?, let seal?): try seal.check(mark, path)
    }
  }

  private func foreign(_ reason: String) -> StorageError {
    StorageError(.foreignFile, .engine, "'\(path)' is not a store: \(reason).", remedy: "Check the path.")
  }

  /// Makes the store aside and moves it into place whole, so that nobody ever finds half of one. False when somebody else
  /// was faster. An empty file that is there gives the store its owner and its permissions.
  private func create() throws(StorageError) -> Bool {
    let lock = try FileWriterLock(path: coordinationPath)
    let hold = try lock.acquire(.never)
    defer { hold.release() }
    // Somebody else may have made it while we waited.
    let found = try SQLiteHeader.read(path)
    guard found == .missing || found == .empty else { return false }
    let aside = StoreFile(path: asidePath, seal: seal)
    let descriptor = try aside.openNew(0o644, for: path)
    defer { aside.removeUnfinished() }
    let number = found == .empty ? FilePermissions(path: path)?.apply(to: descriptor) : 0
    // Before SQLite opens the file: closing a descriptor of it afterwards would take SQLite's locks back.
    close(descriptor)
    guard number == 0 else { throw .system(number ?? ENOENT, doing: "keep the owner and the permissions of", path: path) }
    try aside.make()
    if found == .empty {
      guard rename(aside.path, path) == 0 else { throw .system(errno, doing: "make", path: path) }
    } else {
      // Never over a store that somebody has made meanwhile, whose coordination file may be another one.
      guard try aside.move(to: path) else { return false }
    }
    try LogFile.syncDirectory(of: path)
    return true
  }

  /// A new file, nobody else's and no link to one, which is to become the one at `path`. To be closed before SQLite opens it: closing a
  /// descriptor of it afterwards would take SQLite's locks back.
  func openNew(_ mode: mode_t, for path: String) throws(StorageError) -> Int32 {
    let descriptor = open(self.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .system(errno, doing: "make", path: path) }
    return descriptor
  }

  /// Gives the file its name. False when something has that already.
  func move(to path: String) throws(StorageError) -> Bool {
    let number = cs_rename_new(self.path, path)
    if number != 0, number != EEXIST { throw .system(number, doing: "make", path: path) }
    return number == 0
  }

  /// Removes what is left of a file that was not finished.
  func removeUnfinished() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) } }

  /// A name that nobody knows before, in the same folder; shorter than a long one of the store's, for which there would be no room.
  var asidePath: String {
    var (folder, name) = ("", path[...])
    if let slash = path.lastIndex(of: "/") { (folder, name) = (String(path[...slash]), path[path.index(after: slash)...]) }
    while name.utf8.count > 120 { name.removeLast() }
    return "\(folder)\(name).new-\(getpid())-\(UInt64.random(in: 0 ... .max))"
  }

  private func make() throws(StorageError) {
    let connection = try Connection(self, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    if let seal {
      try connection.reserve(try seal.current().cipher.overhead)
      try connection.execute("PRAGMA journal_mode = MEMORY")
    }
    // The marks are in the main file before it has a log, so its first bytes always tell what it is.
    let marks = [
      "PRAGMA synchronous = FULL", "BEGIN", "PRAGMA application_id = \(MetaTables.applicationID)",
      "PRAGMA user_version = 1",
    ]
    for text in marks + MetaTables.definitions + ["COMMIT", "PRAGMA journal_mode = WAL"] { try connection.execute(text) }
  }

  /// Removes every file of the store; the caller has made sure that nobody has it open.
  func removeAll() throws(StorageError) {
    for path in allPaths + [path + FileTurn.replication] where unlink(path) != 0 {
      if errno != ENOENT { throw .system(errno, doing: "remove", path: path) }
    }
  }

  /// After an open that failed: removes what it has made, so that nothing is left of it. Leaves a store alone that
  /// somebody has open, and that has a version by now.
  func removeTraces(_ made: Made) {
    if made.isStore { return removeIfUnused() }
    // Side files are of use to a store that is there; where there is none they are litter.
    guard !made.sideFiles.isEmpty, access(path, F_OK) != 0 else { return }
    try? StorePresence.whileAbsent(path: coordinationPath) { () throws(StorageError) in
      if access(path, F_OK) != 0 { for path in made.sideFiles { unlink(path) } }
    }
  }

  private func removeIfUnused() {
    do throws(StorageError) {
      try StorePresence.whileAbsent(path: coordinationPath) { () throws(StorageError) in
        if isUnused { try removeAll() }
      }
    } catch {
      // Without a coordination file that can be opened nobody can have the store open, nor remove more than the data.
      if error.code != .alreadyOpen, isUnused { unlink(path) }
    }
  }

  /// Whether no version was ever committed. While nobody has the store open.
  private var isUnused: Bool {
    guard let connection = try? Connection(self, flags: SQLITE_OPEN_READONLY),
      let version = try? connection.readVersions().version
    else { return false }
    return version == Version(0)
  }

  var hasLog: Bool { access(logPath, F_OK) == 0 }

  /// Some process had it open for writing, and one may come again: then they agree through this file.
  var hadWriter: Bool { access(coordinationPath, F_OK) == 0 }

  /// Whether SQLite's files can be made beside it, and taken away again.
  var mayHaveLog: Bool {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    return access(path, W_OK) == 0 && access(directory, W_OK) == 0
  }
}
