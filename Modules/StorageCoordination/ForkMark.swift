import CVivariumSystem
import StorageInterface

/// Detects that the process is a fork of the one that made the mark. Objects that depend on files, locks and helper threads
/// cannot be used in the child; they check their mark and throw instead.
///
/// A check costs about a nanosecond. Safe from any thread.
public struct ForkMark: Sendable, Hashable {
  private let count: UInt64

  /// Marks the current process.
  public init() { count = cs_fork_count() }

  /// Whether this is a child of the process that made the mark.
  @inline(__always) public var isStale: Bool { cs_fork_count() != count }

  /// Throws `.forked` in a child.
  @inline(__always) public func check() throws(StorageError) {
    if isStale { throw ForkMark.error }
  }

  static var error: StorageError {
    StorageError(
      .forked, .engine, "The process forked after the store was opened.",
      remedy: "Open the store again in the child, or fork before opening.")
  }
}
