#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it

/// The owner and the permissions of a file, for another one that takes its place.
package struct FilePermissions {
  private let owner: uid_t
  private let group: gid_t
  private let mode: mode_t

  /// Those of the file at a path; nil if there is none.
  package init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    (owner, group, mode) = (info.st_uid, info.st_gid, info.st_mode & 0o777)
  }

  /// Applies them to a file. Returns an errno value; 0 on success.
  package func apply(to descriptor: Int32) -> Int32 {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return errno }
    if info.st_uid != owner || info.st_gid != group, fchown(descriptor, owner, group) != 0 { return errno }
    return fchmod(descriptor, mode) == 0 ? 0 : errno
  }
}
