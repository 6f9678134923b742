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

/// The files of one store, all beside each other.
struct LMDBFiles: Sendable, Hashable {
  /// The data. Absolute and free of symbolic links: LMDB names its lock file after the path it is given, and two
  /// processes with different lock files would destroy each other's data.
  let data: String
  /// The data file was not there, and we have made it.
  private(set) var areNew = false

  /// LMDB's table of readers and its mutex. Never opened by us: closing any descriptor of it would drop the
  /// process's POSIX locks, and with them its readers' protection.
  var lock: String { data + "-lock" }
  /// The order of writers.
  var coordination: String { data + ".coord" }
  /// Rings after each commit.
  var bell: String { data + ".bell" }

  /// Where the data goes back to after a crash of the system; made by the first commit that is not synced.
  var safePoint: String { data + ".safe" }

  var all: [String] { [data, lock, bell, safePoint, coordination] }

  /// The files of the store that `path` leads to; nil when there is no file there.
  init?(existing path: String) {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    data = String(cString: resolved)
  }

  /// Makes a data file without entries when none is there.
  static func creating(_ path: String, mode: UInt32) throws(StorageError) -> LMDBFiles {
    let path = afterLinks(path)
    // When somebody else was faster, then theirs is as good.
    let isOurs = try making(path, mode: mode, mapSize: RawEnvironment.mapSizeMin) { (_, _) throws(StorageError) in }
    guard var files = LMDBFiles(existing: path) else { throw openError(errno, path) }
    files.areNew = isOurs
    return files
  }

  /// Makes a data file with what `fill` puts into it through LMDB's handle: aside, synced, and then moved into place, so that nobody,
  /// not even after a power cut, ever finds half of one. False, and nothing is made, when there is a file by then.
  static func making(
    _ path: String, mode: UInt32, mapSize: Int, _ fill: (_ handle: OpaquePointer, _ aside: LMDBFiles) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    let aside = LMDBFiles(data: "\(path).new-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    let file = open(aside.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
    guard file >= 0 else { throw openError(errno, path) }
    defer {
      close(file)
      unlink(aside.data)
    }
    let raw = try RawEnvironment(files: aside, isReadOnly: false, isLockless: true, mapSize: mapSize, mode: mode)
    do throws(StorageError) { try fill(raw.pointer, aside) } catch {
      raw.close()
      throw error
    }
    raw.close()
    guard fsync(file) == 0 else { throw openError(errno, path) }
    // Moved, not linked: a file with two names is refused.
    let number = cs_rename_new(aside.data, path)
    guard number == 0 || number == EEXIST else { throw openError(number, path) }
    syncDirectory(of: path)
    return number == 0
  }

  /// The path of a store that is to be made there. `.fileExists` where any of its files is: what lies beside a data file is believed.
  static func unused(_ path: String) throws(StorageError) -> String {
    let path = afterLinks(path)
    var info = stat()
    for file in LMDBFiles(data: path).all where lstat(file, &info) == 0 { throw .exists(file) }
    return path
  }

  private init(data: String) { self.data = data }

  /// Where symbolic links lead that end at no file yet. More than the system would follow are left alone.
  private static func afterLinks(_ path: String) -> String {
    var path = path
    for _ in 0..<40 {
      var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
      let count = readlink(path, &target, Int(PATH_MAX))
      guard count > 0 else { break }
      let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
      path = text.hasPrefix("/") ? text : folder + text
    }
    return path
  }

  /// So that the new name outlives a power cut as well. Where directories cannot be synced, nothing is lost by that.
  private static func syncDirectory(of path: String) {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let directory = open(folder, O_RDONLY | O_CLOEXEC)
    guard directory >= 0 else { return }
    fsync(directory)
    close(directory)
  }

  /// Throws `.foreignFile` where LMDB's lock file is none: a link, a pipe, a folder. Looked at by name alone, as it may not be
  /// opened.
  func checkLockFile() throws(StorageError) {
    var info = stat()
    guard lstat(lock, &info) == 0 else { return }
    guard info.st_mode & S_IFMT == S_IFREG else { throw SideFile.foreign(lock, "lock file") }
  }

  /// By how much the data file can grow: the room on its volume, or what the process may write.
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

  /// Whether a code of LMDB's means a full disk: a write that was cut short is reported as EIO, and mostly there is no room then.
  func isFull(_ code: Int32, for byteCount: Int) -> Bool { code == EIO && bytesLeft() < byteCount }

  /// What all files take on the disk, in allocated blocks.
  var allocatedBytes: Int { all.reduce(0) { $0 + LMDBFiles.allocated($1) } }

  /// The length of the data file.
  var dataBytes: Int {
    var info = stat()
    return stat(data, &info) == 0 ? Int(info.st_size) : 0
  }

  /// Who may use the data file.
  var dataMode: UInt32 {
    var info = stat()
    return stat(data, &info) == 0 ? UInt32(info.st_mode) & 0o777 : LMDBEnvironment.mode
  }

  /// What the data file takes.
  var allocatedDataBytes: Int { LMDBFiles.allocated(data) }

  private static func allocated(_ path: String) -> Int {
    var info = stat()
    // Blocks are of 512 bytes, whatever the file system's are.
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
