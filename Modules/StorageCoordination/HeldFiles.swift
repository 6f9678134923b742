import StorageInterface
import Synchronization

/// The files that SQLite has open in this process. Nobody else opens one: closing any descriptor of a file takes back all of the
/// process's POSIX locks on it, and with them the protection of every connection.
///
/// SQLite keeps state for all connections of a process: which locks it has on a file, where the index of a log is mapped. A
/// forked child inherits that state but not the locks, so a connection opened in the child believes it is protected and is not:
/// another process could remove the log under it, and with it synced commits. SQLite cannot be told, so such a child does not
/// open the file at all.
package final class HeldFiles: Sendable {
  private struct Entry: Sendable {
    let identity: FileIdentity
    let mark: ForkMark
    var count = 1
  }

  /// A few, one per file.
  private static let entries = Mutex<[Entry]>([])

  /// Throws `.forked` if the process inherited the file open, whatever happened to the engine since.
  package static func refuseInherited(_ path: String) throws(StorageError) {
    guard let identity = FileIdentity(path: path) else { return }
    let isInherited = entries.withLock { entries in entries.contains { $0.identity == identity && $0.mark.isStale } }
    guard isInherited else { return }
    throw StorageError(
      .forked, .engine, "'\(path)' was open when the process forked, and SQLite cannot open it safely in the child.",
      remedy: "Fork before opening, close the store before forking, or run a program in the child.")
  }

  /// Whether the process has the file at `path` open, or has inherited it so.
  package static func contains(_ path: String) -> Bool {
    guard let identity = FileIdentity(path: path) else { return false }
    return entries.withLock { entries in entries.contains { $0.identity == identity } }
  }

  private let identity: FileIdentity
  private let mark = ForkMark()

  /// Registers the file at `path` as about to be opened, until this object is released. Nil if there is no file.
  package init?(path: String) {
    guard let identity = FileIdentity(path: path) else { return nil }
    self.identity = identity
    let mark = mark
    HeldFiles.entries.withLock { entries in
      if let i = entries.firstIndex(where: { $0.identity == identity }) {
        entries[i].count += 1
      } else {
        entries.append(Entry(identity: identity, mark: mark))
      }
    }
  }

  deinit {
    // Inherited entries stay.
    if mark.isStale { return }
    HeldFiles.entries.withLock { entries in
      guard let i = entries.firstIndex(where: { $0.identity == identity }) else { return }
      entries[i].count -= 1
      if entries[i].count == 0 { entries.remove(at: i) }
    }
  }
}
