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

/// Keeps LMDB's table of readers from being cleared while this process has it open.
///
/// LMDB takes an exclusive lock on the first byte of its lock file to find out whether it is alone, and then clears the table.
/// That lock belongs to the process, so a second handle would always succeed. A shared lock of an open file description
/// prevents this. Its descriptor stays open as long as LMDB's handles: closing one of this file drops all the process's locks
/// on it.
final class TableGuard: Sendable {
  private let descriptor: Int32
  private let mark = ForkMark()

  init(_ files: LMDBFiles) throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(files.lock, false, false, 0, &number)
    guard file >= 0 else { throw .system(number, .transaction, doing: "open the table of readers", path: files.lock) }
    descriptor = file
  }

  /// Acquires the shared lock. Everybody who has the store open shares it, so it is available, except while somebody opens the
  /// store and checks whether he is alone.
  func hold(_ files: LMDBFiles) throws(StorageError) {
    for _ in 0..<1_000 {
      let number = cs_lock_shared(descriptor, 0, 1)
      if number == 0 { return }
      guard number == EAGAIN || number == EACCES else {
        throw .system(number, .transaction, doing: "lock the table of readers", path: files.lock)
      }
      usleep(1_000)
    }
    throw .system(EAGAIN, .transaction, doing: "lock the table of readers", path: files.lock)
  }

  // In a forked child it stays open, as LMDB's own descriptors do: closing one drops all locks that the process has on the
  // file, and the child may have opened the store itself by now.
  deinit { if !mark.isStale { close(descriptor) } }
}
