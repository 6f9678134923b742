#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it

/// An empty file in the place of a store. It holds nothing, and engines find a store's side files by it.
package enum EmptyFile {
  /// Whether the file at a path is empty. Makes an empty one, its owner's alone, if there is none.
  package static func isAt(_ path: String) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 {
      close(file)
      return true
    }
    var info = stat()
    return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_size == 0
  }
}
