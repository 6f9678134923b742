#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Which file a path leads to, whatever the path: symbolic and hard links of one file are equal.
public struct FileIdentity: Sendable, Hashable {
  public let device: UInt64
  public let inode: UInt64

  /// Nil when nothing is there, or it cannot be looked at.
  public init?(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    self.init(info)
  }

  /// Of an open file; nil when the descriptor is not one.
  public init?(descriptor: Int32) {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return nil }
    self.init(info)
  }

  private init(_ info: stat) {
    device = UInt64(truncatingIfNeeded: info.st_dev)
    inode = UInt64(truncatingIfNeeded: info.st_ino)
  }
}
