import CSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Storage

/// Says to every process that this one has a store open, until the last reference is dropped or the process
/// ends. Whoever removes a store asks first.
///
/// A shared byte-range lock on the coordination file, far above the tickets of the writer's lock. Taken before
/// any other file of the store is opened.
public final class StorePresence: Sendable {
  private static let byte: Int64 = 1 << 61
  private let descriptor: Int32

  /// Announces the store whose coordination file is at `path`. Makes the file when missing, unless read-only.
  ///
  /// Throws `.alreadyOpen` while somebody removes the store, `.fileNotFound` when read-only and there is no
  /// file, and what opening a file can cause.
  public init(path: String, isReadOnly: Bool, mode: UInt32 = 0o664) throws(StorageError) {
    var file: Int32 = -1
    repeat {
      if file >= 0 { close(file) }
      var number: Int32 = 0
      file = cs_open(path, !isReadOnly, !isReadOnly, mode, &number)
      guard file >= 0 else { throw .system(number, doing: "open the coordination file", path: path) }
      number = cs_lock_shared(file, StorePresence.byte, 1)
      guard number == 0 else {
        close(file)
        if number == EAGAIN || number == EACCES { throw StorePresence.busy(path) }
        throw .system(number, doing: "lock the coordination file", path: path)
      }
      // Removed between our open and our lock: then what we hold is nobody's any more.
    } while FileIdentity(descriptor: file) != FileIdentity(path: path)
    descriptor = file
  }

  deinit { close(descriptor) }

  /// Runs `body` while nobody, in this process or another, has the store open, and keeps everybody out
  /// meanwhile. Throws `.alreadyOpen` when somebody has. Without a coordination file nobody can have it open.
  public static func whileAbsent(
    path: String, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(path, true, false, 0, &number)
    guard file >= 0 else {
      if number == ENOENT { return try body() }
      throw .system(number, doing: "open the coordination file", path: path)
    }
    defer { close(file) }
    guard cs_lock_exclusive(file, StorePresence.byte, 1) == 0 else { throw busy(path) }
    try body()
  }

  private static func busy(_ path: String) -> StorageError {
    StorageError(
      .alreadyOpen, .engine, "The store of '\(path)' is open, or being removed, elsewhere.",
      remedy: "Close it in every process first.")
  }
}
