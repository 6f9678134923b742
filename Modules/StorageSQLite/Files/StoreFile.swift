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

/// The files of a store before it is opened: their names, whether they can be opened, and how they are created.
struct StoreFile {
  let path: String
  /// The key of an encrypted store; nil if it is not encrypted.
  var seal: FileSeal?
  var coordinationPath: String { path + ".coord" }
  var bellPath: String { path + ".bell" }
  var logPath: String { path + "-wal" }
  /// A store has none, but SQLite plays one back into whatever file has the name.
  private var journalPath: String { path + "-journal" }
  /// Those that SQLite keeps beside the main one.
  private var sqlitePaths: [String] { [logPath, path + "-shm", journalPath] }
  /// All of them, the main one first, and last the one that keeps others out.
  var allPaths: [String] { [path] + sqlitePaths + [bellPath, coordinationPath] }

  /// The files that `prepare` has created, to be removed if opening fails.
  struct Made {
    /// The store itself.
    var isStore = false
    /// Side files that did not exist.
    var sideFiles: [String] = []
  }

  /// Ensures that the store exists and can be opened with the options, creating it if requested. If it throws, it leaves no new
  /// files.
  func prepare(_ options: OpenOptions) throws(StorageError) -> Made {
    var made = Made()
    made.sideFiles = options.isReadOnly ? [] : [bellPath, coordinationPath].filter { access($0, F_OK) != 0 }
    switch try SQLiteHeader.read(path) {
    case .ours(let format, let mark):
      try check(format, options)
      try check(mark)
      try checkName()
      // SQLite looks for one first, and removes it.
      try SQLiteSideFile.refuseForeign([journalPath])
      try refuseForeignLog()
    case .foreign(let reason): throw foreign(reason)
    case .missing, .empty:
      guard options.createsIfMissing, !options.isReadOnly else {
        throw StorageError(
          .fileNotFound, .engine, "There is no store at '\(path)'.", remedy: "Check the path, or let the store be made.")
      }
      try checkName()
      try SQLiteSideFile.refuseForeign(sqlitePaths)
      do throws(StorageError) { made.isStore = try create(options) } catch {
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

  /// Checks that the key is the file's.
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

  /// Creates the store under another name and renames it, so that nobody finds an incomplete one. False if another process was
  /// first. An existing empty file passes its owner and its permissions to the store.
  private func create(_ options: OpenOptions) throws(StorageError) -> Bool {
    let mode: UInt32 = options.isPrivate ? 0o600 : 0o644
    let lock = try FileWriterLock(path: coordinationPath, mode: mode)
    let hold = try lock.acquire(.never)
    defer { hold.release() }
    // Another process may have created it while we waited.
    let found = try SQLiteHeader.read(path)
    guard found == .missing || found == .empty else { return false }
    let made = try AsideFile(for: path, mode: mode)
    let aside = StoreFile(path: made.path, seal: seal)
    defer { made.remove() }
    try made.write { () throws(StorageError) in
      let number = found == .empty ? FilePermissions(path: path)?.apply(to: made.file) : 0
      guard number == 0 else { throw .system(number ?? ENOENT, doing: "keep the owner and the permissions of", path: path) }
      try aside.make()
    }
    // What an older file left would be taken for the new one's: SQLite looks at the own sums of a log or journal alone.
    for path in sqlitePaths where unlink(path) != 0 && errno != ENOENT {
      throw .system(errno, doing: "remove what an older store left,", path: path)
    }
    if found == .empty {
      guard rename(aside.path, path) == 0 else { throw .system(errno, doing: "make", path: path) }
    } else {
      // Never over a store created meanwhile, whose coordination file may be another one.
      guard try aside.move(to: path) else { return false }
    }
    try Folder.sync(of: path)
    return true
  }

  /// Renames the file. False if the name is in use.
  func move(to path: String) throws(StorageError) -> Bool {
    let number = cs_rename_new(self.path, path)
    if number != 0, number != EEXIST { throw .system(number, doing: "make", path: path) }
    return number == 0
  }

  private func make() throws(StorageError) {
    let connection = try Connection(self, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    if let seal {
      try connection.reserve(try seal.current().cipher.overhead)
      try connection.execute("PRAGMA journal_mode = MEMORY")
    }
    // The application id is in the main file before it has a log, so its first bytes always identify it.
    let marks = [
      "PRAGMA synchronous = FULL", "BEGIN", "PRAGMA application_id = \(MetaTables.applicationID)",
      "PRAGMA user_version = 1",
    ]
    for text in marks + MetaTables.definitions + ["COMMIT", "PRAGMA journal_mode = WAL"] { try connection.execute(text) }
  }

  /// Removes every file of the store; whatever else lies under their names stays. The caller has ensured that nobody has it open.
  func removeAll() throws(StorageError) {
    // All are looked at first: who may have made a side file is asked of the main one.
    let own = ([path + FileTurn.replication] + allPaths).filter {
      $0 == path || !SideFile.isForeign($0) && !SQLiteSideFile.isForeign($0)
    }
    for path in own where unlink(path) != 0 && errno != ENOENT { throw .system(errno, doing: "remove", path: path) }
  }

  /// After a failed open, removes the files it has created. Keeps a store that somebody has open or that has a version by now.
  func removeTraces(_ made: Made) {
    if made.isStore { return removeIfUnused() }
    // Side files are useful to an existing store; without one they are litter.
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
      // Without a usable coordination file nobody can have the store open, nor remove more than the data.
      if error.code != .alreadyOpen, isUnused { unlink(path) }
    }
  }

  /// Whether no version was ever committed. Requires that nobody has the store open.
  private var isUnused: Bool {
    guard let connection = try? Connection(self, flags: SQLITE_OPEN_READONLY),
      let version = try? connection.readVersions().version
    else { return false }
    return version == Version(0)
  }

  /// The permissions of the file; nil if it does not exist.
  var mode: UInt32? {
    var info = stat()
    return stat(path, &info) == 0 ? UInt32(info.st_mode) & 0o777 : nil
  }

  /// Permissions of new files beside it: its own, and always read and write for the owner.
  var sideMode: UInt32 { (mode ?? 0o644) | 0o600 }

  var hasLog: Bool { access(logPath, F_OK) == 0 }

  /// Whether there is anything in its log, without which the data file may not be read. A writer that moves pages into the data file
  /// has them in the log until they are there.
  var hasWrittenLog: Bool {
    var info = stat()
    return stat(logPath, &info) == 0 && info.st_size > 0
  }

  /// Whether a process had the store open for writing. One may come again, and they coordinate through this file.
  private var hadWriter: Bool { access(coordinationPath, F_OK) == 0 }

  /// Whether a reader lets SQLite make a log: writers, who coordinate with it, were there, and it may make files.
  var readersMakeLog: Bool { hadWriter && mayHaveLog }

  /// Whether SQLite's files can be created and removed beside it.
  private var mayHaveLog: Bool {
    access(path, W_OK) == 0 && access(Folder.split(path).folder, W_OK) == 0
  }
}
