import CVivariumSystem

/// Says on one file with which other file a process uses it, by a lock: who comes to use it with another finds that, by whatever
/// names he came. Two files that belong to each other, as a store and its table of readers do, are found by their names, and
/// names can be given, taken away and given again while the files are open.
///
/// The kernel takes claims back from the dead. A claim lasts as long as the open file that the descriptor is of.
public enum FileClaim {
  /// Behind all data, and behind the bytes that say who is present. A byte for each other file, by its identity; that two have
  /// the same is one chance in millions.
  private static let start: Int64 = (1 << 61) + 64
  private static let count: Int64 = 1 << 40

  /// Claims the file for the other one. False where somebody has claimed it for a third.
  ///
  /// - Parameter file: a descriptor that may read.
  public static func take(_ file: Int32, for other: FileIdentity) -> Bool {
    // Said first, and then looked: of two that meet at least one sees the other.
    cs_lock_shared(file, byte(other), 1) == 0 && !isTaken(file, exceptFor: other)
  }

  /// Whether somebody else has claimed the file for another than this; nil: for any.
  public static func isTaken(_ file: Int32, exceptFor other: FileIdentity?) -> Bool {
    guard let other else { return cs_locked_at(file, start, count) >= 0 }
    let own = byte(other)
    if own > start, cs_locked_at(file, start, own - start) >= 0 { return true }
    let end = start + count
    return own + 1 < end && cs_locked_at(file, own + 1, end - own - 1) >= 0
  }

  /// Gives the claim back. Closing alone would leave it to a process that another thread is just starting: it has a copy of
  /// every descriptor until it runs its program.
  public static func letGo(_ file: Int32) { _ = cs_unlock(file, start, count) }

  private static func byte(_ other: FileIdentity) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for word in [other.device, other.inode] { hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15 }
    return start + Int64((hash >> 20) & UInt64(count - 1))
  }
}
