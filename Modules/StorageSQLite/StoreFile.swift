import CSQLite
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Coordination
import Storage
import Synchronization
import Values

/// The files of one store, before it is open: which they are, whether they can be opened, and how they are made.
struct StoreFile {
  let path: String
  var coordinationPath: String { path + ".coord" }
  var bellPath: String { path + ".bell" }
  var logPath: String { path + "-wal" }
  /// All of them, the main one first.
  var allPaths: [String] { [path, logPath, path + "-shm", bellPath, coordinationPath] }

  private static let numbers = Atomic(0)

  /// Makes sure that there is a store that can be opened so; makes it where that is asked for, and then returns true.
  func prepare(_ options: OpenOptions) throws(StorageError) -> Bool {
    switch try FileHeader.read(path) {
    case .ours(let format):
      try check(format, options)
      return false
    case .foreign(let reason): throw foreign(reason)
    case .missing, .empty:
      guard options.createsIfMissing, !options.isReadOnly else {
        throw StorageError(
          .fileNotFound, .engine, "There is no store at '\(path)'.", remedy: "Check the path, or let the store be made.")
      }
      return try create()
    }
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

  private func foreign(_ reason: String) -> StorageError {
    StorageError(.foreignFile, .engine, "'\(path)' is not a store: \(reason).", remedy: "Check the path.")
  }

  /// Makes the store aside and moves it into place whole, so that nobody ever finds half of one. False when somebody else
  /// was faster.
  private func create() throws(StorageError) -> Bool {
    let lock = try FileWriterLock(path: coordinationPath)
    let hold = try lock.acquire(.never)
    defer { hold.release() }
    // Somebody else may have made it while we waited.
    let found = try FileHeader.read(path)
    guard found == .missing || found == .empty else { return false }
    let number = StoreFile.numbers.add(1, ordering: .relaxed).newValue
    let aside = "\(path).new-\(getpid())-\(number)"
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(aside + suffix) } }
    try StoreFile.make(aside)
    guard rename(aside, path) == 0 else { throw .system(errno, doing: "make", path: path) }
    try LogFile.syncDirectory(of: path)
    return true
  }

  private static func make(_ path: String) throws(StorageError) {
    let connection = try Connection(path: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    // The marks are in the main file before it has a log, so its first bytes always tell what it is.
    let marks = [
      "PRAGMA synchronous = FULL", "BEGIN", "PRAGMA application_id = \(MetaTables.applicationID)",
      "PRAGMA user_version = 1",
    ]
    for text in marks + MetaTables.definitions + ["COMMIT", "PRAGMA journal_mode = WAL"] { try connection.execute(text) }
  }

  /// Removes every file of the store; the caller has made sure that nobody has it open.
  func removeAll() throws(StorageError) {
    for path in allPaths where unlink(path) != 0 {
      if errno != ENOENT { throw .system(errno, doing: "remove", path: path) }
    }
  }

  /// After an open that failed: removes the store that it has made, so that nothing is left of it. Leaves it alone where
  /// somebody has it open, and where it has a version by now.
  func removeIfUnused() {
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
    guard let connection = try? Connection(path: path, flags: SQLITE_OPEN_READONLY),
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
