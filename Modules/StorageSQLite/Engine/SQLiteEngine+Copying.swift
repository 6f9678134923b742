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
import Synchronization

extension SQLiteEngine: FileCopying {
  /// As `FileCopying` describes, by `VACUUM INTO`: SQLite reads one version and writes it in order. The log cannot restart
  /// meanwhile.
  @discardableResult
  public func writeCopy(
    to path: String, _ encryption: CopyEncryption, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version {
    try writeCopy(to: path, encryption, isPrivate: false, progress)
  }

  /// As `FileCopying` describes.
  @discardableResult
  public func writeCopy(
    to path: String, _ encryption: CopyEncryption, isPrivate: Bool, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version {
    try checkOpen()
    if options.isReadOnly { try followLog() }
    let seal: FileSeal? =
      switch encryption {
      case .unchanged: file.seal.map { FileSeal($0.key) }
      case .none: nil
      case .key(let key): FileSeal(key)
      }
    let target = StoreFile(path: SQLiteBackend.resolved(path), seal: seal)
    try target.checkUnused()
    let folder = try OpenFolder(of: target.path)
    let made = try AsideFile(for: target.path, mode: isPrivate ? 0o600 : (file.mode ?? 0) | 0o600)
    let aside = StoreFile(path: made.path, seal: seal)
    defer { made.remove() }
    var version = Version(0)
    try made.write { () throws(StorageError) in
      try vacuum(into: aside, target.path, progress)
      version = try aside.turnIntoStore()
      let number = made.sync()
      guard number == 0 else { throw .system(number, .statement, doing: "sync the copy", path: target.path) }
    }
    guard try aside.move(to: target.path) else { throw .exists(target.path) }
    do throws(StorageError) { try folder.sync() } catch {
      // Nobody knows of it yet, and it might be gone after a power cut.
      unlink(target.path)
      throw error
    }
    return version
  }

  private func vacuum(
    into aside: StoreFile, _ path: String, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    if options.isReadOnly { try followLog() }
    let (isImmutable, stamp) = shared.withLock { shared in
      if shared.isImmutable { shared.immutableCount += 1 }
      return (shared.isImmutable, shared.isImmutable ? shared.stamp : nil)
    }
    defer { if isImmutable { endImmutable() } }
    let connection = try Connection.ours(file, isReadOnly: options.isReadOnly, isImmutable: isImmutable, takesURIs: true)
    defer { connection.shut() }
    connection.stamp = stamp
    try connection.vacuum(into: aside, for: path, expected: try statistics().liveBytes, progress)
  }
}

extension Connection {
  /// Writes the newest version to a new, empty file, in order. For a connection that takes addresses.
  ///
  /// - Parameters:
  ///   - path: the copy's final path, for errors.
  ///   - expected: how many bytes there will be, as far as one knows.
  func vacuum(
    into aside: StoreFile, for path: String, expected: Int, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    if let seal = aside.seal { try reserve(try seal.current().cipher.overhead) }
    let failure = withoutActuallyEscaping(progress) { progress -> StorageError? in
      let watch = CopyWatch(aside.path, expected, progress)
      // Safe: `watch` outlives the handler, which is removed below and runs on this thread.
      sqlite3_progress_handler(
        database, CopyWatch.steps, { context in
          guard let context else { return 1 }
          return Unmanaged<CopyWatch>.fromOpaque(context).takeUnretainedValue().look() ? 0 : 1
        }, Unmanaged.passUnretained(watch).toOpaque())
      defer {
        sqlite3_progress_handler(database, 0, nil, nil)
        withExtendedLifetime(watch) {}
      }
      do throws(StorageError) {
        try execute("VACUUM INTO '\(FileAddress.attached(aside))'")
        if watch.isStopped || !watch.end() { return .copyStopped(path) }
        try confirm()
        return nil
      } catch {
        return watch.isStopped ? .copyStopped(path) : error
      }
    }
    if let failure { throw failure }
  }
}

/// Reports a copy's progress to the caller, every few megabytes.
private final class CopyWatch {
  /// SQLite's virtual machine steps between two calls: milliseconds.
  static let steps: Int32 = 20_000
  private static let bytesBetween = 4 << 20

  private let path: String
  private let expected: Int
  private let progress: (CopyProgress) -> Step
  private var next = CopyWatch.bytesBetween
  private(set) var isStopped = false

  init(_ path: String, _ expected: Int, _ progress: @escaping (CopyProgress) -> Step) {
    (self.path, self.expected, self.progress) = (path, expected, progress)
  }

  private var written: Int {
    var info = stat()
    return stat(path, &info) == 0 ? Int(info.st_size) : 0
  }

  /// Returns false to stop.
  func look() -> Bool {
    let written = written
    guard written >= next else { return true }
    next = written + CopyWatch.bytesBetween
    return report(written, max(expected, written))
  }

  func end() -> Bool { report(written, written) }

  private func report(_ written: Int, _ expected: Int) -> Bool {
    isStopped = progress(CopyProgress(bytesWritten: written, bytesExpected: expected)) == .stop
    return !isStopped
  }
}

extension StoreFile {
  /// Throws `.fileExists` if any file of a store of that name exists: a log beside a new file would be taken for its own.
  fileprivate func checkUnused() throws(StorageError) {
    var info = stat()
    for path in allPaths where lstat(path, &info) == 0 { throw .exists(path) }
  }

  /// Completes the result of `VACUUM INTO`, which has no log, and returns its version. The caller syncs the file.
  @discardableResult
  func turnIntoStore() throws(StorageError) -> Version {
    let connection = try Connection(self, flags: SQLITE_OPEN_READWRITE)
    let version = try connection.readVersions().version
    // A journal file would hold plain pages.
    if seal != nil { try connection.execute("PRAGMA journal_mode = MEMORY") }
    try connection.execute("PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL")
    connection.shut()
    return version
  }
}

extension Connection {
  /// Reserves this many bytes at the end of each page of a file to be created: this one if it is new, or a copy.
  func reserve(_ count: Int) throws(StorageError) {
    var number = Int32(clamping: count)
    let code = sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &number)
    if code != SQLITE_OK { throw failure(code, .engine, doing: "leave room in pages") }
  }
}
