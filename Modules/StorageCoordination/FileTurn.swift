import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// The right to do something for a store that one process at a time does, by a lock on a file of its own beside the store.
/// The kernel takes it back from the dead. It lasts as long as the reference.
package final class FileTurn: Sendable {
  /// What the file of who replicates a store is called, behind the store's name. It goes with the store.
  package static let replication = ".sync"

  private let descriptor: Int32
  private let mark = ForkMark()

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Takes the right, if nobody has it; nil if somebody does, in this process or another. Makes the file when it is missing. Throws
  /// `.foreignFile` for what is no regular file, and what opening a file can cause.
  package static func take(path: String, _ name: String, mode: UInt32 = 0o664) throws(StorageError) -> FileTurn? {
    let file = try SideFile.open(path, name, writes: true, creates: true, mode: mode)
    let number = cs_lock_exclusive(file, 0, 1)
    // Removed between our open and our lock: then what we hold is nobody's any more, and the next try makes it anew.
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
