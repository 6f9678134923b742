import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// The right to perform a task for a store that only one process at a time may do: a lock on a separate file beside the store.
/// The kernel releases it when the process dies. It lasts as long as the reference.
package final class FileTurn: Sendable {
  /// The suffix of the lock file for replication. It is removed with the store.
  package static let replication = ".sync"

  private let descriptor: Int32
  private let mark = ForkMark()

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Takes the right if it is free; nil if it is taken, in this process or another. Creates the file if missing. Throws
  /// `.foreignFile` for anything but a regular file, and the errors of opening a file.
  package static func take(path: String, _ name: String, mode: UInt32 = 0o664) throws(StorageError) -> FileTurn? {
    let file = try SideFile.open(path, name, writes: true, creates: true, mode: mode)
    let number = cs_lock_exclusive(file, 0, 1)
    // Removed between our open and our lock: then our lock is worthless, and the next try creates the file again.
    if number == 0, FileIdentity(descriptor: file) == FileIdentity(path: path) { return FileTurn(file) }
    close(file)
    if number == 0 || number == EAGAIN || number == EACCES { return nil }
    throw .system(number, doing: "lock the \(name)", path: path)
  }

  deinit {
    // In a forked child the lock is the parent's.
    if !mark.isStale { _ = cs_unlock(descriptor, 0, 0) }
    close(descriptor)
  }
}
