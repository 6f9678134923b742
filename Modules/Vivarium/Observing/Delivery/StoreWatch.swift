import StoreValues
import Synchronization

/// Up to which version an observer of a store knows that it changed: writes may be skipped of which it is not to be notified.
/// Safe from any thread.
final class StoreWatch: Sendable {
  private let known: Mutex<Version>
  /// Which open file is observed.
  let file: UInt64

  init(_ version: Version, of file: UInt64) {
    known = Mutex(version)
    self.file = file
  }

  func knows(_ version: Version) -> Bool { known.withLock { $0 >= version } }

  /// The observer is about to be notified of a version. False: it knows that already.
  func learn(_ version: Version) -> Bool {
    known.withLock { known in
      if known >= version { return false }
      known = version
      return true
    }
  }

  /// Before the commit that makes a version, of which the observer is not notified. False: it does not know the version before
  /// that either, and hears of both.
  func pass(_ version: Version) -> Bool {
    known.withLock { known in
      if known.next != version { return false }
      known = version
      return true
    }
  }

  /// The commit of a version that was passed came to nothing: another commit will make that version.
  func takeBack(_ version: Version) {
    known.withLock { known in
      if known == version { known = Version(version.rawValue - 1) }
    }
  }
}
