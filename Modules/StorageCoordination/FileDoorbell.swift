import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import StoreValues

/// The doorbell of a store in a file: wakes every process that listens.
///
/// Ringing overwrites a byte of the file `<store>.bell` with itself, and the system notifies listeners of the write. A killed
/// process leaves nothing behind, and listening needs only read permission.
public final class FileDoorbell: Doorbell {
  private let path: String
  /// −1 if read-only: such a store has no commits to announce.
  private let descriptor: Int32
  private let mark = ForkMark()

  /// Opens the bell file at `path`, and creates it if missing. Read-only, the file may be missing: then only the check once a
  /// second remains.
  ///
  /// Throws `.permissionDenied`, `.outOfDiskSpace`, `.fileNotFound` (no such directory) or `.io`.
  public init(path: String, isReadOnly: Bool, mode: UInt32 = 0o664) throws(StorageError) {
    self.path = path
    guard !isReadOnly else {
      descriptor = -1
      return
    }
    let file = try SideFile.open(path, FileDoorbell.name, writes: true, creates: true, mode: mode)
    guard FileDoorbell.isOurs(file, path) else {
      close(file)
      throw SideFile.foreign(path, FileDoorbell.name)
    }
    let number = cs_reserve(file, 1)
    guard number == 0 else {
      close(file)
      throw .system(number, doing: "make room in the bell file", path: path)
    }
    descriptor = file
  }

  private static let name = "bell file"

  /// A bell is one zero byte, or empty if new. So ringing changes nothing, even in a foreign file.
  static func isOurs(_ file: Int32, _ path: String) -> Bool {
    SideFile.passes(file, 1) { bytes, length in
      length == 0 ? SideFile.isNew(file, path: path, suffix: ".bell") : length == 1 && bytes == [0]
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  public func ring() {
    guard descriptor >= 0, !mark.isStale else { return }
    var byte: UInt8 = 0
    // A failed write loses the ring; listeners find the version within a second.
    _ = pwrite(descriptor, &byte, 1, 0)
  }

  public func listen(
    version: @escaping @Sendable () -> Version?, _ body: @escaping @Sendable () -> Void
  ) -> any CommitListener {
    BellWatch.current.listen(path: path, version: version, body)
  }
}
