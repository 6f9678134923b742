#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The identity of a file, whatever its path: symbolic and hard links of one file are equal.
public struct FileIdentity: Sendable, Hashable {
  public let device: UInt64
  public let inode: UInt64

  /// Nil if the file does not exist or cannot be inspected.
  public init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    self.init(info)
  }

  /// The identity of an open file; nil if the descriptor is invalid.
  public init?(descriptor: Int32) {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return nil }
    self.init(info)
  }

  /// The identity in what the system says of a file.
  package init(_ info: stat) {
    device = UInt64(truncatingIfNeeded: info.st_dev)
    inode = UInt64(truncatingIfNeeded: info.st_ino)
  }
}
