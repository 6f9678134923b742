import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// A file that is written under a temporary name and renamed when it is complete. If its process is killed before, the file stays in
/// the folder; the next process that creates a file for the same name removes it, with every file that is named after it.
package struct AsideFile: Sendable {
  /// Beyond the data and the lock ranges of the databases.
  private static let lockByte: Int64 = 1 << 61
  private static let suffixes = ["", "-wal", "-shm", "-journal"]
  private static let nameMax = 120

  /// An unpredictable name in the folder of the final file.
  package let path: String
  private let descriptor: Int32

  /// Creates an empty file, exclusively and without following links, that is to become the file at `path`.
  package init(for path: String, mode: UInt32) throws(StorageError) {
    let (folder, name) = AsideFile.split(path)
    AsideFile.removeAbandoned(folder, name)
    let aside = "\(folder)\(name).new-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let file = open(aside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
    guard file >= 0 else { throw .system(errno, doing: "make", path: path) }
    // Tells others that this process lives. On a file system without locks nothing is ever removed.
    _ = cs_lock_exclusive(file, AsideFile.lockByte, 1)
    (self.path, descriptor) = (aside, file)
  }

  /// The file descriptor. Valid until `letGo`.
  package var file: Int32 { descriptor }

  /// Syncs the file to the disk. Returns 0 or an errno value.
  package func sync() -> Int32 { fsync(descriptor) == 0 ? 0 : errno }

  /// Closes the descriptor. For SQLite's files: before the rename, and while no connection has the file open, because closing any
  /// descriptor of a file releases the process's POSIX locks on it.
  package func letGo() { close(descriptor) }

  /// Runs `body`, which writes the file, and closes the descriptor, also if it throws.
  package func write(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    defer { letGo() }
    try body()
  }

  /// Removes the file, unless it was renamed, and the log and journal beside it.
  package func remove() { AsideFile.remove(path) }

  /// Removes the names that the file at `path` was written under, if a process was killed between giving it the final one and removing
  /// the other: some file systems cannot do both at once.
  package static func removeNames(of path: String) {
    guard let identity = FileIdentity(path: path) else { return }
    let (folder, name) = split(path)
    for other in Folder.names(in: folder) where maker(of: other, name) != nil {
      var info = stat()
      if lstat(folder + other, &info) == 0, FileIdentity(info) == identity { unlink(folder + other) }
    }
  }

  /// Removes what dead processes have left of files that were to become the one at `path`.
  package static func removeAbandoned(for path: String) {
    let (folder, name) = split(path)
    removeAbandoned(folder, name)
  }

  // MARK: Private

  /// The folder, and as much of the name as leaves room for the suffix.
  private static func split(_ path: String) -> (folder: String, name: String) {
    var parts = Folder.split(path)
    while parts.name.utf8.count > nameMax { parts.name.removeLast() }
    return parts
  }

  private static func remove(_ path: String) { for suffix in suffixes { unlink(path + suffix) } }

  /// Removes the files that dead processes have left for the same final name.
  private static func removeAbandoned(_ folder: String, _ name: String) {
    let names = Folder.names(in: folder)
    for other in names {
      guard let maker = maker(of: other, name), isGone(maker), isLetGo(folder + other) else { continue }
      for side in names where isNamedAfter(other, side) { unlink(folder + side) }
      // Last, because without it nobody would look for the rest.
      unlink(folder + other)
    }
  }

  /// Whether a name is that of a log beside an unfinished file, or of a store that is made beside it, with the store's own side files.
  private static func isNamedAfter(_ file: String, _ name: String) -> Bool {
    guard name.hasPrefix(file), let next = name.dropFirst(file.count).first else { return false }
    return next == "-" || next == "."
  }

  /// The process id in a name of the form that `init` gives; nil for other names.
  private static func maker(of other: String, _ name: String) -> pid_t? {
    guard other.hasPrefix(name + ".new-") else { return nil }
    let parts = other.dropFirst(name.count + 5).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, UInt64(parts[1]) != nil, let process = pid_t(parts[0]), process > 0 else { return nil }
    return process
  }

  private static func isGone(_ process: pid_t) -> Bool { kill(process, 0) != 0 && errno == ESRCH }

  /// Whether no process has it locked: the id of a process in another container says nothing here.
  private static func isLetGo(_ path: String) -> Bool {
    var number: Int32 = 0
    let file = cs_open_side(path, true, false, 0, &number)
    guard file >= 0 else { return false }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1 else { return false }
    return cs_lock_exclusive(file, lockByte, 1) == 0
  }
}
