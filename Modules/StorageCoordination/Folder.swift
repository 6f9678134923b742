#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// The folder of a file, for those who look at the names beside it.
package enum Folder {
  /// The folder with its slash, `./` for a path without one, and the name.
  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("./", path) }
    return (String(path[...slash]), String(path[path.index(after: slash)...]))
  }

  /// The names in a folder, in no order; none if it cannot be read.
  package static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) {
          names.append(String(cString: $0))
        }
      }
    }
    return names
  }

  /// Syncs the folder of a file: a new name, or one that another file has got, survives a power cut only then.
  package static func sync(of path: String) throws(StorageError) {
    let folder = split(path).folder
    let directory = open(folder, O_RDONLY | O_CLOEXEC)
    guard directory >= 0 else { throw .system(errno, doing: "open the directory", path: folder) }
    defer { close(directory) }
    // Some file systems cannot sync directories; they persist names by themselves.
    if fsync(directory) != 0, errno != EINVAL { throw .system(errno, doing: "sync the directory", path: folder) }
  }
}
