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

/// Keeps LMDB's table of readers from being made anew while this process has it open already.
///
/// LMDB takes an exclusive lock on the first byte of its lock file to see whether it is alone, and then clears the table. That
/// lock is the process's: a second handle would always find itself alone. A shared lock of an open file stands
/// in its way. Its descriptor stays open as long as LMDB's handles: closing one of this file drops all the process's locks on it.
final class TableGuard: Sendable {
  private let descriptor: Int32
  private let mark = ForkMark()

  init(_ files: LMDBFiles) throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(files.lock, false, false, 0, &number)
    guard file >= 0 else { throw .system(number, .transaction, doing: "open the table of readers", path: files.lock) }
    descriptor = file
  }

  /// Takes the lock. Everybody who has the store open shares it, so it is there for the asking; but for who opens the store in
  /// this moment and looks whether he is alone.
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

  // In a child of fork it stays open, as LMDB's own descriptors do: closing one of a file drops all locks that the process has on it, and
  // the child may have opened the store for itself by now.
  deinit { if !mark.isStale { close(descriptor) } }
}
