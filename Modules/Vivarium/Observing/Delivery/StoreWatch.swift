import StoreValues
import Synchronization

/// The version up to which an observer of a store knows of changes. Writes may skip the observer. Safe from any thread.
final class StoreWatch: Sendable {
  private let known: Mutex<Version>
  /// The number of the observed file.
  let file: UInt64

  init(_ version: Version, of file: UInt64) {
    known = Mutex(version)
    self.file = file
  }

  func knows(_ version: Version) -> Bool { known.withLock { $0 >= version } }

  /// Records that the observer is about to be notified of a version. False if it already knows that version.
  func learn(_ version: Version) -> Bool {
    known.withLock { known in
      if known >= version { return false }
      known = version
      return true
    }
  }

  /// Called before a commit that makes a version and skips the observer. False if the observer does not know the previous version
  /// either, and is notified of both.
  func pass(_ version: Version) -> Bool {
    known.withLock { known in
      if known.next != version { return false }
      known = version
      return true
    }
  }

  /// Reverts `pass` after the commit failed: another commit will make that version.
  func takeBack(_ version: Version) {
    known.withLock { known in
      if known == version { known = Version(version.rawValue - 1) }
    }
  }
}
