import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// A file that is made under another name, and gets its own when it is whole. Whoever is killed meanwhile leaves it behind: the next
/// who makes a file for the same name takes it away.
package struct AsideFile: Sendable {
  /// Behind all data and all locks of the databases.
  private static let lockByte: Int64 = 1 << 61
  private static let suffixes = ["", "-wal", "-shm", "-journal"]
  private static let nameMax = 120

  /// A name that nobody knows before, in the folder of the file that it is to become.
  package let path: String
  private let descriptor: Int32

  /// Makes an empty one, which is nobody else's and no link, for the file at `path`. Throws what making a file can cause.
  package init(for path: String, mode: UInt32) throws(StorageError) {
    let (folder, name) = AsideFile.split(path)
    AsideFile.removeAbandoned(folder, name)
    let aside = "\(folder)\(name).new-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let file = open(aside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(mode))
    guard file >= 0 else { throw .system(errno, doing: "make", path: path) }
    // Says that its maker lives. Where a file system has no such locks, nobody takes anything away.
    _ = cs_lock_exclusive(file, AsideFile.lockByte, 1)
    (self.path, descriptor) = (aside, file)
  }

  /// Its descriptor, until `letGo`.
  package var file: Int32 { descriptor }

  /// Brings it to the disk. An errno value; 0: done.
  package func sync() -> Int32 { fsync(descriptor) == 0 ? 0 : errno }

  /// Lets go of it. No database that keeps its locks by process may have the file open, nor may the file have its name by then: closing
  /// a descriptor of a file takes such locks back.
  package func letGo() { close(descriptor) }

  /// Removes it, if it was not given its name, and what a database has left beside it.
  package func remove() { AsideFile.remove(path) }

  // MARK: Private

  private static func remove(_ path: String) { for suffix in suffixes { unlink(path + suffix) } }

  /// The folder with its slash, and the beginning of the name: behind a long one there would be no room.
  private static func split(_ path: String) -> (folder: String, name: String) {
    var (folder, name) = ("", path[...])
    if let slash = path.lastIndex(of: "/") { (folder, name) = (String(path[...slash]), path[path.index(after: slash)...]) }
    while name.utf8.count > nameMax { name.removeLast() }
    return (folder, String(name))
  }

  /// Takes away what makers of the same file have left that are dead.
  private static func removeAbandoned(_ folder: String, _ name: String) {
    guard let directory = opendir(folder.isEmpty ? "." : folder) else { return }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      withUnsafePointer(to: &entry.pointee.d_name) { bytes in
        bytes.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) {
          found.append(String(cString: $0))
        }
      }
    }
    for other in found {
      guard let maker = maker(of: other, name), isGone(maker), isLetGo(folder + other) else { continue }
      remove(folder + other)
    }
  }

  /// The process in a name that `init` gives; nil for all other names.
  private static func maker(of other: String, _ name: String) -> pid_t? {
    guard other.hasPrefix(name + ".new-") else { return nil }
    let parts = other.dropFirst(name.count + 5).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, UInt64(parts[1]) != nil, let process = pid_t(parts[0]), process > 0 else { return nil }
    return process
  }

  private static func isGone(_ process: pid_t) -> Bool { kill(process, 0) != 0 && errno == ESRCH }

  /// Whether nobody has it locked: a process of another container has a number that means nobody here.
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
