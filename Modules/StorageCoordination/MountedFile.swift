import CVivariumSystem
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that is mounted by itself (`mount --bind a/store b/store`, a single file given to a container): it has a second name that no
/// count of links tells of, and the store's other files are not beside it.
package enum MountedFile {
  /// Whether the file that a path leads to is such a one. Some microseconds; more on Linux before 5.8, where the list of mounts is read.
  package static func isMounted(_ path: String) -> Bool {
    switch cs_is_mount(path) {
    case 0: return false
    case 1: return true
    default:
      guard let real = realpath(path, nil) else { return false }
      defer { free(real) }
      guard let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else { return false }
      return isMounted(String(cString: real), in: mounts)
    }
  }

  /// Whether one of the mounts, in the form of `/proc/self/mountinfo`, is at a path without symbolic links.
  package static func isMounted(_ path: String, in mounts: String) -> Bool {
    mounts.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count > 4 && unescaped(fields[4]) == path
    }
  }

  /// The kernel writes spaces, tabs, line ends and backslashes as a backslash and three octal digits.
  private static func unescaped(_ field: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = field.utf8[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) {
        bytes.append(value)
        rest.removeFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
