#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
import StorageInterface

/// The identity of a store's file under any name: SQLite finds a log by the name of the file, and so do we.
extension StoreFile {
  /// Throws if the file has a second name. It could be opened by that name, and its log would be looked for beside it: two
  /// programs would write one file without coordination.
  func checkName() throws(StorageError) {
    if MountedFile.isMounted(path) {
      throw StorageError(
        .hardLinked, .engine, "'\(path)' is mounted by itself, so it has another name, and SQLite finds its log by the name.",
        remedy: "Mount the folder of the store, or copy the file.")
    }
    if !hasSecondName { return }
    AsideFile.removeNames(of: path)
    if hasSecondName { throw StoreFile.secondName(path) }
  }

  private var hasSecondName: Bool {
    var info = stat()
    return stat(path, &info) == 0 && info.st_nlink > 1
  }

  static func secondName(_ path: String) -> StorageError {
    StorageError(
      .hardLinked, .engine, "'\(path)' has a second name (a hard link), and SQLite finds its log by the name.",
      remedy: "Remove the other name, or copy the file.")
  }
}

extension SQLiteBackend {
  /// The path of the file that a path leads to, without symbolic links, even if it does not exist yet.
  static func resolved(_ path: String) -> String {
    if let found = real(path) { return found }
    var path = path
    // Longer chains than the system follows are not resolved.
    for _ in 0..<40 {
      guard let target = target(of: path) else { break }
      path = target.utf8.first == UInt8(ascii: "/") ? target : Folder.before(path) + target
    }
    // The file does not exist, but its directory does.
    let (folder, name) = Folder.split(path)
    guard let found = real(folder) else { return path }
    return (found == "/" ? "" : found) + "/" + name
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func target(of path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = readlink(path, &target, Int(PATH_MAX))
    return count > 0 ? String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}

/// The identities of the files that make up a commit, when the store was opened for writing. Whoever opens the store later
/// finds them by name.
struct CommitFiles: Sendable {
  /// The data file.
  let data: FileIdentity
  private let log: FileIdentity
  /// Whether the data file has a second name.
  private let isNamedTwice: Bool

  /// Nil if one of them does not exist.
  init?(_ file: StoreFile) {
    var (data, log) = (stat(), stat())
    guard stat(file.path, &data) == 0, stat(file.logPath, &log) == 0 else { return nil }
    (self.data, self.log) = (FileIdentity(data), FileIdentity(log))
    isNamedTwice = data.st_nlink > 1
  }

  /// Throws if opening the store now would, or could, find other files than these. Second names are checked only before a
  /// commit (`beforeCommit`): one given to the file afterwards invalidates nothing.
  func check(_ file: StoreFile, beforeCommit: Bool) throws(StorageError) {
    guard let now = CommitFiles(file), now.data == data, now.log == log else {
      throw StorageError(
        .replaced, .engine, "'\(file.path)' or its log was removed or replaced while the store was open; the commit does not count.",
        remedy: "Close the store in every process, and open what is there now.")
    }
    if beforeCommit, now.isNamedTwice { throw StoreFile.secondName(file.path) }
  }
}
