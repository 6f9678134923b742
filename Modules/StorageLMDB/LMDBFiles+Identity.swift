import CVivariumSystem
import StorageCoordination
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// One file, one table of readers. LMDB finds its table by the name of the data file, so a file with two names, or whose lock
/// file was replaced, would have two tables, and users of one would overwrite pages that readers of the other need.
extension LMDBFiles {
  /// Throws `.hardLinked` if the data file has other names, or is mounted by itself, which gives it one. Removes names left by a
  /// process that was killed while it created the store.
  func refuseOtherNames() throws(StorageError) {
    if MountedFile.isMounted(data) {
      throw StorageError(
        .hardLinked, .engine, "'\(data)' is mounted by itself, so it has another name, and LMDB finds its table of readers by the name.",
        remedy: "Mount the folder of the store, or copy the file.")
    }
    guard nameCount > 1 else { return }
    let (folder, name) = Folder.split(data)
    var others: [String] = []
    if let identity = FileIdentity(path: data) {
      for other in Folder.names(in: folder) where other != name {
        let path = folder + other
        guard FileIdentity(path: path) == identity, !LMDBFiles.isSymbolicLink(path) else { continue }
        if other.hasPrefix(name + ".new-") { unlink(path) } else { others.append(other) }
      }
    }
    guard nameCount > 1 else { return }
    let list = others.isEmpty ? "in another directory" : others.map { "'\($0)'" }.joined(separator: ", ")
    throw StorageError(
      .hardLinked, .engine, "'\(data)' has another name: \(list).",
      remedy: "Remove the other names, or make copies: processes that open a store by different names do not see each other's locks.")
  }

  /// The number of hard links of the data file; 1 for anything but a regular file.
  private var nameCount: Int {
    var info = stat()
    guard stat(data, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return 1 }
    return Int(info.st_nlink)
  }

  private static func isSymbolicLink(_ path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
  }

  // MARK: The lock file

  /// Allocates all blocks of LMDB's lock file: it is mapped, and on a full disk an access to a missing block would end the
  /// process. Creates it in full length, as LMDB would, if it does not exist. Throws `.foreignFile` for what is not LMDB's, and leaves
  /// it as it was. Must not be called while this process has the store open: closing the file would drop LMDB's locks.
  ///
  /// On a read-only file system LMDB silently omits its table. A reader gets `.permissionDenied` there, so that it is opened
  /// without the table, and with other means of keeping writers away.
  func reserveLock(mode: UInt32, isReadOnly: Bool) throws(StorageError) {
    var number: Int32 = 0
    // LMDB follows and overwrites whatever it finds there: a link or a pipe is rejected before anything is touched.
    try checkLockFile()
    let file = cs_open_side(lock, true, true, mode, &number)
    // Without write access the store is opened without it.
    if file < 0, number == EROFS, isReadOnly {
      throw StorageError(
        .permissionDenied, .engine, "'\(lock)' is on a file system that cannot be written.", remedy: "Open the store for reading alone.",
        underlyingCode: EROFS)
    }
    if file < 0, number == EACCES || number == EROFS || number == EPERM { return }
    guard file >= 0 else { throw .system(number, doing: "open the table of readers", path: lock) }
    defer { close(file) }
    guard isTable(file) else { throw SideFile.foreign(lock, "lock file") }
    let length = lseek(file, 0, SEEK_END)
    // Another length means another number of readers, decided by whoever created it.
    number = cs_reserve(file, length > 0 ? Int64(length) : LMDBFiles.lockLength)
    if number != 0 { throw .system(number, doing: "make room in the table of readers", path: lock) }
  }

  /// The bytes of a reader's line in LMDB's table.
  static let readerSize = 64

  /// Where the lines of readers begin: after two lines of 64 bytes with LMDB's two locks, longer if the system's are.
  static let tableStart: Int = {
    let line = 64
    func lines(_ bytes: Int) -> Int { (bytes + line - 1) / line * line }
    #if canImport(Darwin)
    // Darwin has names of locks instead.
    return lines(8 + 24 + 16) + lines(24)
    #else
    let mutex = MemoryLayout<pthread_mutex_t>.size
    return lines(8 + mutex + 16) + lines(mutex)
    #endif
  }()

  /// Whether an open file is a table that LMDB has made, or begins to make. LMDB itself writes to whatever has the name.
  func isTable(_ file: Int32) -> Bool {
    // Again, if another process has made it longer in between.
    for _ in 0..<3 {
      guard let (bytes, length) = SideFile.beginning(file, 4) else { return false }
      if length == 0 {
        if SideFile.isNew(file, path: lock, suffix: "-lock") { return true }
        continue
      }
      if bytes.count == 4, bytes.withUnsafeBytes({ $0.loadUnaligned(as: UInt32.self) }) == LMDBMeta.magic { return true }
      guard bytes.allSatisfy({ $0 == 0 }) else { return false }
      // Somebody makes it, or was killed while he did: LMDB writes its number last.
      return length == Int(LMDBFiles.lockLength) || LMDBFiles.isZeroes(file, length)
    }
    return false
  }

  private static func isZeroes(_ file: Int32, _ length: Int) -> Bool {
    // More than the table of a million readers.
    guard length <= 1 << 26 else { return false }
    var part = [UInt8](repeating: 0, count: 1 << 16)
    var place = 0
    while place < length {
      let count = part.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(place)) }
      if count <= 0 { return count == 0 }
      guard part[..<count].allSatisfy({ $0 == 0 }) else { return false }
      place += count
    }
    return true
  }

  /// The length of LMDB's table.
  private static let lockLength = Int64(tableStart + Int(RawEnvironment.readersMax) * readerSize)

  /// Announces our presence with this data file. `.replaced` if somebody still has the previous data file open.
  func claim(_ presence: StorePresence) throws(StorageError) {
    guard let identity = FileIdentity(path: data), presence.claim(data: identity) else { throw .replaced(data) }
  }

  /// Throws `.alreadyOpen` if somebody reads the data file, be it without a presence: one that opened the file before there was a
  /// coordination file. Its table of readers is of this file, and would be taken for that of the next one.
  func refuseReaders() throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(data, false, false, 0, &number)
    guard file >= 0 else { throw LMDBFiles.openError(number, data) }
    defer { close(file) }
    if FileClaim.isTaken(file, exceptFor: nil) || ReaderPins.isHeld(file, from: 0) {
      throw StorageError(
        .alreadyOpen, .engine, "'\(data)' is read by somebody who opened it before it was ever written in its place.",
        remedy: "Close it in every process first.")
    }
  }

  /// Throws `.replaced` if somebody has the data file open with a different table of readers.
  func refuseOtherTables() throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(data, false, false, 0, &number)
    guard file >= 0 else { throw LMDBFiles.openError(number, data) }
    defer { close(file) }
    if FileClaim.isTaken(file, exceptFor: FileIdentity(path: lock)) { throw StorageError.replaced(data) }
  }
}

extension StorageError {
  static func replaced(_ path: String) -> StorageError {
    StorageError(
      .replaced, .engine, "'\(path)', or its lock file, was replaced, renamed or removed while the store was open.",
      remedy: "Close the store in every process and open it again.")
  }
}
