import CVivariumSystem

/// A lock on one file that says which other file a process uses with it, so that a process using it with a different one
/// notices, whatever the names. Two files that belong together, such as a store and its table of readers, are found by their
/// names, and names can be assigned, removed and reassigned while the files are open.
///
/// The kernel releases the claims of dead processes. A claim lasts as long as the descriptor's open file description.
public enum FileClaim {
  /// Behind all data, and behind the presence bytes. A byte for each other file, by its identity; two files share a byte with a
  /// chance of one in millions.
  private static let start: Int64 = (1 << 61) + 64
  private static let count: Int64 = 1 << 40

  /// Claims the file for use with the other one. False if somebody has claimed it for a third.
  ///
  /// - Parameter file: a descriptor that may read.
  public static func take(_ file: Int32, for other: FileIdentity) -> Bool {
    // Claim first, then check: of two concurrent claims at least one sees the other.
    cs_lock_shared(file, byte(other), 1) == 0 && !isTaken(file, exceptFor: other)
  }

  /// Whether somebody else has claimed the file for another than this one; nil: for any.
  public static func isTaken(_ file: Int32, exceptFor other: FileIdentity?) -> Bool {
    guard let other else { return cs_locked_at(file, start, count) >= 0 }
    let own = byte(other)
    if own > start, cs_locked_at(file, start, own - start) >= 0 { return true }
    let end = start + count
    return own + 1 < end && cs_locked_at(file, own + 1, end - own - 1) >= 0
  }

  /// Releases the claim. Closing alone would leave it to a process that another thread is just starting, which has a copy of
  /// every descriptor until it runs its program.
  public static func letGo(_ file: Int32) { _ = cs_unlock(file, start, count) }

  private static func byte(_ other: FileIdentity) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for word in [other.device, other.inode] { hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15 }
    return start + Int64((hash >> 20) & UInt64(count - 1))
  }
}
