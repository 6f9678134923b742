#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import CVivariumSystem
import StorageCoordination
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
import StorageInterface

/// The files of one store, in one directory.
struct LMDBFiles: Sendable, Hashable {
  /// The data file, as an absolute path without symbolic links: LMDB derives the name of its lock file from the given path, and
  /// two processes with different lock files would destroy each other's data.
  let data: String
  /// The data file did not exist, and we have created it.
  private(set) var areNew = false

  /// LMDB's table of readers and its mutex. We must not close a descriptor of it while LMDB has it open: that would drop the
  /// process's POSIX locks, and with them the protection of its readers.
  var lock: String { data + "-lock" }
  /// Orders the writers.
  var coordination: String { data + ".coord" }
  /// Written after each commit.
  var bell: String { data + ".bell" }

  /// The point to which the data are restored after a system crash; made by the first commit that is not synced.
  var safePoint: String { data + ".safe" }

  var all: [String] { [data, lock, bell, safePoint, coordination] }

  /// The files of the store that `path` leads to; nil if there is no file.
  init?(existing path: String) {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    data = String(cString: resolved)
  }

  /// Creates a data file without entries if there is none.
  static func creating(_ path: String, mode: UInt32) throws(StorageError) -> LMDBFiles {
    let path = afterLinks(path)
    // If another process was faster, its file is as good.
    let isOurs = try making(path, mode: mode, mapSize: RawEnvironment.mapSizeMin) { (_, _) throws(StorageError) in }
    guard var files = LMDBFiles(existing: path) else { throw openError(errno, path) }
    files.areNew = isOurs
    return files
  }

  /// Creates a data file with the entries that `fill` writes through LMDB's handle. Written under another name, synced and then
  /// renamed, so that nobody ever finds an incomplete one, even after a power cut. False, without a new file, if one exists by
  /// then. When this returns, the name survives a power cut too.
  ///
  /// - Parameter isCopy: whether nobody knows of the file before this returns. Then it goes if the disk does not confirm its name; a new
  ///   store stays, because another process may have committed to it by then.
  static func making(
    _ path: String, mode: UInt32, mapSize: Int, isCopy: Bool = false,
    _ fill: (_ handle: OpaquePointer, _ aside: LMDBFiles) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    // First: what a process may not open, as a folder that it may only write, it cannot sync.
    let folder: OpenFolder
    do throws(StorageError) { folder = try OpenFolder(of: path) } catch {
      throw error.code == .permissionDenied ? error : openError(error.underlyingCode, path)
    }
    return try written(for: path, mode: mode, mapSize: mapSize, fill) { (made, aside) throws(StorageError) in
      let synced = made.sync()
      guard synced == 0 else { throw openError(synced, path) }
      // Renamed, not linked: a file with two names is rejected.
      let number = cs_rename_new(aside.data, path)
      guard number == 0 || number == EEXIST else { throw openError(number, path) }
      do throws(StorageError) { try folder.sync() } catch {
        if number == 0, isCopy { unlink(path) }
        throw error
      }
      return number == 0
    }
  }

  /// Replaces the data file by one with the entries that `fill` writes. At any moment there is the old one or the new one, whole. The
  /// caller has ensured that nobody has the store open; whoever could not announce that is looked for here.
  ///
  /// - Parameter synced: runs when the new file is complete, before it takes the other's name; for tests.
  func exchange(
    mapSize: Int, synced: () throws -> Void = {},
    _ fill: (_ handle: OpaquePointer, _ aside: LMDBFiles) throws(StorageError) -> Void
  ) throws(StorageError) {
    // First: once the name leads to the new file, nothing may fail any more.
    let folder = try OpenFolder(of: data)
    try LMDBFiles.written(for: data, mode: 0o600, mapSize: mapSize, fill) { (made, aside) throws(StorageError) in
      // Last: until it is complete, the file is its maker's alone.
      var number = FilePermissions(path: data)?.apply(to: made.file) ?? ENOENT
      guard number == 0 else { throw .system(number, doing: "keep the owner and the permissions of", path: data) }
      number = made.sync()
      guard number == 0 else { throw .system(number, doing: "sync the copy beside", path: data) }
      try? synced()
      // Again: somebody may have begun to open it before the caller kept others out.
      try refuseReaders()
      guard rename(aside.data, data) == 0 else { throw .system(errno, doing: "replace", path: data) }
      // The caller would take an error for the old file's. Without the sync a power cut may bring that back, whole.
      try? folder.sync()
      // It is of the file that was there before, and says so.
      if !isForeign(safePoint) { unlink(safePoint) }
    }
  }

  /// Writes a data file under another name, and closes it.
  private static func written<R>(
    for path: String, mode: UInt32, mapSize: Int,
    _ fill: (_ handle: OpaquePointer, _ aside: LMDBFiles) throws(StorageError) -> Void,
    _ finish: (_ made: AsideFile, _ aside: LMDBFiles) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let made: AsideFile
    do throws(StorageError) { made = try AsideFile(for: path, mode: mode) } catch { throw openError(error.underlyingCode, path) }
    let aside = LMDBFiles(data: made.path)
    defer {
      made.letGo()
      made.remove()
    }
    let raw = try RawEnvironment(files: aside, isReadOnly: false, isLockless: true, mapSize: mapSize, mode: mode)
    do throws(StorageError) { try fill(raw.pointer, aside) } catch {
      raw.close()
      throw error
    }
    raw.close()
    return try finish(made, aside)
  }

  /// The resolved path for a new store. `.fileExists` if any of its files exists, because side files beside a data file are
  /// trusted.
  static func unused(_ path: String) throws(StorageError) -> String {
    let path = afterLinks(path)
    var info = stat()
    for file in LMDBFiles(data: path).all where lstat(file, &info) == 0 { throw .exists(file) }
    return path
  }

  private init(data: String) { self.data = data }

  /// Follows symbolic links whose target does not exist yet. Longer chains than the system follows are not resolved.
  private static func afterLinks(_ path: String) -> String {
    var path = path
    for _ in 0..<40 {
      var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
      let count = readlink(path, &target, Int(PATH_MAX))
      guard count > 0 else { break }
      let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      path = text.utf8.first == UInt8(ascii: "/") ? text : Folder.before(path) + text
    }
    return path
  }

  /// Throws `.foreignFile` if LMDB's lock file is a link, a pipe, a directory or the like. Inspected only by name, because it
  /// must not be opened.
  func checkLockFile() throws(StorageError) {
    var info = stat()
    guard lstat(lock, &info) == 0 else { return }
    guard info.st_mode & S_IFMT == S_IFREG else { throw SideFile.foreign(lock, "lock file") }
  }

  /// By how much the data file can grow: the free space of its volume, or the process's file size limit.
  func bytesLeft() -> Int {
    var volume = statvfs()
    var info = stat()
    var limit = rlimit()
    guard statvfs(data, &volume) == 0, stat(data, &info) == 0 else { return .max }
    let room = UInt64(volume.f_bavail).multipliedReportingOverflow(by: UInt64(volume.f_frsize))
    let free = room.overflow ? Int.max : Int(clamping: room.partialValue)
    guard getrlimit(LMDBFiles.fileSizeLimit, &limit) == 0 else { return free }
    return min(free, Int(clamping: limit.rlim_cur) - Int(info.st_size))
  }

  /// Whether a code of LMDB's means a full disk: LMDB reports a short write as EIO, usually for lack of space.
  func isFull(_ code: Int32, for byteCount: Int) -> Bool { code == EIO && bytesLeft() < byteCount }

  /// The disk usage of all files, in bytes of allocated blocks.
  var allocatedBytes: Int { all.reduce(0) { $0 + LMDBFiles.allocated($1) } }

  /// The length of the data file.
  var dataBytes: Int {
    var info = stat()
    return stat(data, &info) == 0 ? Int(info.st_size) : 0
  }

  /// Permissions of new files beside the data file, and of copies: its own, and always read and write for the owner. The owner's alone
  /// if it is gone.
  var sideMode: UInt32 {
    var info = stat()
    return (stat(data, &info) == 0 ? UInt32(info.st_mode) & 0o777 : 0) | 0o600
  }

  /// The disk usage of the data file.
  var allocatedDataBytes: Int { LMDBFiles.allocated(data) }

  private static func allocated(_ path: String) -> Int {
    var info = stat()
    // `st_blocks` counts 512-byte blocks on every file system.
    return stat(path, &info) == 0 ? Int(info.st_blocks) * 512 : 0
  }

  #if canImport(Glibc)
  private static let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
  private static let fileSizeLimit = RLIMIT_FSIZE
  #endif

  static func openError(_ number: Int32, _ path: String) -> StorageError {
    if number == EISDIR {
      return StorageError(
        .foreignFile, .engine, "'\(path)' is a directory, not a store.", remedy: "Give the path of a file.",
        underlyingCode: number)
    }
    return .system(number, doing: "open the store", path: path)
  }
}
