import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// Announces to all processes that this one has a store open, until the last reference is dropped or the process ends. Checked
/// before a store is removed.
///
/// A shared byte-range lock on the coordination file, far above the tickets of the writer's lock. Taken before any other file
/// of the store is opened.
public final class StorePresence: Sendable {
  public enum Role: Sendable {
    /// Creates the coordination file if missing.
    case writer
    case reader
    /// A reader whose snapshots are not protected from writers: it and writers exclude each other.
    case unprotectedReader
    /// A reader of the data file without its log, in which there is nothing yet. Excludes nobody: whoever moves a log into the data
    /// file asks before (`isDataFileRead`), and moves nothing meanwhile.
    case dataFileReader
  }

  private static let byte: Int64 = 1 << 61
  private static let writerByte = byte + 1
  private static let unprotectedByte = byte + 2
  private static let dataFileByte = byte + 3
  /// Never locked.
  private static let end = byte + 4
  private let descriptor: Int32
  private let mark = ForkMark()

  /// Announces the store with the coordination file at `path`.
  ///
  /// Throws `.alreadyOpen` while somebody removes the store or the roles exclude each other, `.fileNotFound` for a reader if
  /// there is no file, and the errors of opening a file.
  public init(path: String, as role: Role, mode: UInt32 = 0o664) throws(StorageError) {
    let isReadOnly = role != .writer
    var file: Int32 = -1
    repeat {
      if file >= 0 { close(file) }
      file = try SideFile.open(path, CoordinationFile.name, writes: !isReadOnly, creates: !isReadOnly, mode: mode)
      let number = cs_lock_shared(file, StorePresence.byte, 1)
      guard number == 0 else {
        close(file)
        if number == EAGAIN || number == EACCES { throw StorePresence.busy(path) }
        throw .system(number, doing: "lock the coordination file", path: path)
      }
      // Removed between our open and our lock: then our lock is worthless.
    } while FileIdentity(descriptor: file) != FileIdentity(path: path)
    // Each announces itself first and then checks for the other: of two concurrent ones at least one sees the other.
    let (own, other) = switch role {
    case .writer: (StorePresence.writerByte, StorePresence.unprotectedByte)
    case .unprotectedReader: (StorePresence.unprotectedByte, StorePresence.writerByte)
    case .dataFileReader: (StorePresence.dataFileByte, StorePresence.end)
    case .reader: (StorePresence.byte, StorePresence.end)
    }
    guard cs_lock_shared(file, own, 1) == 0, cs_locked_at(file, other, 1) < 0 else {
      StorePresence.letGo(file)
      throw StorePresence.excluded(path, role)
    }
    descriptor = file
  }

  /// Announces the data file of the store. False if another process that is present has a different one open: then the data
  /// file was replaced, and the side files still belong to the old one.
  public func claim(data: FileIdentity) -> Bool { FileClaim.take(descriptor, for: data) }

  /// Lets others change the data file that a `dataFileReader` has read; it goes on as a reader. Idempotent. From any thread.
  public func leaveDataFile() {
    // In a forked child the lock is the parent's.
    if !mark.isStale { _ = cs_unlock(descriptor, StorePresence.dataFileByte, 1) }
  }

  /// Whether somebody, of this process or another, reads the data file without a log. True if that cannot be found out.
  ///
  /// Who announces that afterwards finds what the caller has in its log: it looks there after its announcement.
  public static func isDataFileRead(path: String) -> Bool {
    var number: Int32 = 0
    let file = cs_open_side(path, false, false, 0, &number)
    guard file >= 0 else { return number != ENOENT }
    defer { close(file) }
    return cs_locked_at(file, dataFileByte, 1) >= 0
  }

  deinit {
    // In a forked child the locks are the parent's.
    if mark.isStale { close(descriptor) } else { StorePresence.letGo(descriptor) }
  }

  /// Runs `body` while nobody, in this process or another, has the store open, and excludes everybody meanwhile. Throws
  /// `.alreadyOpen` if somebody has. Whatever `body` removes, the coordination file comes last: it is what keeps others out.
  ///
  /// - Parameter opened: runs between the opening and the lock, for tests.
  public static func whileAbsent(
    path: String, opened: () -> Void = {}, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    guard let (file, isNew) = try lockedAlone(path, opened) else { return try body() }
    defer {
      // Made for this call alone.
      if isNew, FileIdentity(descriptor: file) == FileIdentity(path: path) { unlink(path) }
      letGo(file)
    }
    try body()
  }

  /// The coordination file, locked against everybody, and whether this call has made it: somebody may open a store that is not there
  /// yet. Nil where no file can be made, because then nobody can make or remove a store there.
  private static func lockedAlone(
    _ path: String, _ opened: () -> Void
  ) throws(StorageError) -> (file: Int32, isNew: Bool)? {
    var isNew = false
    while true {
      let file: Int32
      do throws(StorageError) {
        file = try SideFile.open(path, CoordinationFile.name, writes: true, creates: isNew, mode: 0o664)
      } catch {
        if !isNew, error.underlyingCode == ENOENT {
          isNew = true
          continue
        }
        if isNew, [ENOENT, ENOTDIR, EACCES, EPERM, EROFS].contains(error.underlyingCode) { return nil }
        throw error
      }
      opened()
      guard cs_lock_exclusive(file, StorePresence.byte, 1) == 0 else {
        letGo(file)
        throw busy(path)
      }
      if FileIdentity(descriptor: file) == FileIdentity(path: path) { return (file, isNew) }
      // Removed, and perhaps made again, between our open and our lock: then our lock is worthless.
      letGo(file)
      isNew = false
    }
  }

  /// Releases the locks and closes. Closing alone would leave them to a process that another thread is just starting, which has
  /// a copy of every descriptor until it runs its program.
  private static func letGo(_ file: Int32) {
    _ = cs_unlock(file, 0, 0)
    close(file)
  }

  private static func excluded(_ path: String, _ role: Role) -> StorageError {
    if role == .writer {
      return StorageError(
        .alreadyOpen, .engine, "The store of '\(path)' is read by a process that may not write its lock file.",
        remedy: "Let that process close it, or let its user write the lock file.")
    }
    return StorageError(
      .permissionDenied, .engine, "The store of '\(path)' is being written, and this user may not write its lock file.",
      remedy: "Let this user write the lock file; a reader is protected by its entry in it.")
  }

  private static func busy(_ path: String) -> StorageError {
    StorageError(
      .alreadyOpen, .engine, "The store of '\(path)' is open, or being removed, elsewhere.",
      remedy: "Close it in every process first.")
  }
}
