import Synchronization

/// The memory that page caches of this process's read connections may take together, beyond the small cache that each of them has.
///
/// A cache is valid for one version: SQLite drops it when another connection has committed. So a large cache pays for the snapshot
/// that an app scans again and again, and not for the notifier's, or one that has just been prepared for a turn.
///
/// Safe from any thread.
final class PageCacheBudget: Sendable {
  /// 128 MiB: what the table and the indexes of a million small objects take.
  static let shared = PageCacheBudget(kilobytes: 128 << 10)
  /// Less is not worth a change of the cache's size.
  private static let kilobytesMin = 1 << 10

  private let kilobytesLeft: Atomic<Int>

  init(kilobytes: Int) { kilobytesLeft = Atomic(kilobytes) }

  /// Whether there is anything to take.
  var isEmpty: Bool { kilobytesLeft.load(ordering: .relaxed) < PageCacheBudget.kilobytesMin }

  /// Takes all that is left, in KiB; 0 if that is too little.
  func take() -> Int {
    let taken = kilobytesLeft.exchange(0, ordering: .acquiringAndReleasing)
    if taken >= PageCacheBudget.kilobytesMin { return taken }
    giveBack(taken)
    return 0
  }

  func giveBack(_ kilobytes: Int) { kilobytesLeft.add(kilobytes, ordering: .acquiringAndReleasing) }
}
