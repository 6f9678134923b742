import Foundation

/// Where the list is that belongs to the user of this machine. Not in the temporary folder: there another user may put
/// a link to a file of his under the name, before the list is made.
enum OwnFolder {
  struct Refused: Error, CustomStringConvertible {
    let path: String
    let why: String
    var description: String { "The folder '\(path)' \(why). Name another file with '--path'." }
  }

  /// The list's file, in a folder that only its user may write, and that is made where it is missing.
  static func list(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> URL {
    let folder = parent(environment).appending(path: "vivarium-tasks")
    try make(folder.path)
    return folder.appending(path: "tasks.lmdb")
  }

  /// Where programs keep what is their user's: `XDG_DATA_HOME`, and without it the system's folder for that.
  private static func parent(_ environment: [String: String]) -> URL {
    // As the XDG base directory specification has it, a relative path is ignored.
    if let named = environment["XDG_DATA_HOME"], named.hasPrefix("/") { return URL(fileURLWithPath: named) }
    #if canImport(Darwin)
    return URL.applicationSupportDirectory
    #else
    return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
    #endif
  }

  private static func make(_ path: String) throws {
    var failure = mkdir(path, 0o700) == 0 ? 0 : errno
    if failure == ENOENT {
      try? FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
        attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
      failure = mkdir(path, 0o700) == 0 ? 0 : errno
    }
    guard failure == 0 || failure == EEXIST else {
      throw Refused(path: path, why: "cannot be made: \(String(cString: strerror(failure)))")
    }
    // Looked at whether it was made or found: a link is not followed, because who put it there chose where it leads.
    var found = stat()
    guard lstat(path, &found) == 0 else { throw Refused(path: path, why: "cannot be read: \(String(cString: strerror(errno)))") }
    guard found.st_mode & S_IFMT == S_IFDIR else { throw Refused(path: path, why: "is no folder") }
    guard found.st_uid == geteuid() else { throw Refused(path: path, why: "belongs to another user") }
    guard found.st_mode & 0o022 == 0 else { throw Refused(path: path, why: "can be written by other users") }
  }
}
