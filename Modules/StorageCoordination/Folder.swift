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
    let folder = before(path)
    return (folder.isEmpty ? "./" : folder, String(decoding: path.utf8.dropFirst(folder.utf8.count), as: UTF8.self))
  }

  /// The folder with its slash; empty for a path without one. By bytes, as the system reads paths: a name may begin with a mark that is
  /// one character with the slash.
  package static func before(_ path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[..<path.utf8.index(after: slash)])
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
  package static func sync(of path: String) throws(StorageError) { try OpenFolder(of: path).sync() }
}

/// The folder of a file, held open. Who opens it before a name changes can sync it afterwards, whatever the process may open by then:
/// an error comes while nothing has happened yet.
package final class OpenFolder: Sendable {
  private let path: String
  private let descriptor: Int32

  /// The folder of the file at `path`. Throws `.permissionDenied` where it may not be read.
  package init(of path: String) throws(StorageError) {
    self.path = Folder.split(path).folder
    descriptor = open(self.path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, doing: "open the directory", path: self.path) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns once the names in the folder survive a power cut.
  package func sync() throws(StorageError) {
    // Some file systems cannot sync directories; they persist names by themselves.
    if fsync(descriptor) != 0, errno != EINVAL { throw .system(errno, doing: "sync the directory", path: path) }
  }
}
