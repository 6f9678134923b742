import StoreValues
import Synchronization

/// Caches the version of LMDB's newest known transaction number, so that reading the version takes two loads and no search.
final class VersionCache: Sendable {
  private let transaction = Atomic<UInt>(0)
  private let version = Atomic<UInt64>(0)
  private let writing = Mutex(())

  /// The version, if this number was cached last. From any thread, without waiting.
  func version(of number: UInt) -> Version? {
    guard transaction.load(ordering: .sequentiallyConsistent) == number, number != 0 else { return nil }
    let found = version.load(ordering: .sequentiallyConsistent)
    // Unchanged, so the version read in between belonged to it: numbers only grow.
    return transaction.load(ordering: .sequentiallyConsistent) == number ? Version(found) : nil
  }

  /// Caches a pair, unless a newer one is known.
  func remember(_ number: UInt, _ version: Version) {
    writing.withLock { _ in
      guard number > transaction.load(ordering: .sequentiallyConsistent) else { return }
      transaction.store(0, ordering: .sequentiallyConsistent)
      self.version.store(version.rawValue, ordering: .sequentiallyConsistent)
      transaction.store(number, ordering: .sequentiallyConsistent)
    }
  }
}
