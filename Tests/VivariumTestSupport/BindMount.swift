#if os(Linux)
import Foundation

/// A file or folder that is also found at another path, until the last reference is gone.
public final class BindMount: Sendable {
  private static let bind: UInt = 4_096
  private let target: String

  /// Nil, with a printed reason, where this user may not mount. What is at `target` has to be of the same kind as `source`.
  public init?(_ source: String, at target: String) {
    self.target = target
    guard mount(source, target, nil, BindMount.bind, nil) == 0 else {
      print("Not tested: mounting \(source) is not possible here (\(String(cString: strerror(errno)))).")
      return nil
    }
  }

  deinit { umount2(target, Int32(MNT_DETACH)) }
}
#endif
