import StorageInterface

/// Which `synchronous` level the writing connection has.
///
/// The level is set before a transaction and its durability is known at the end. At FULL, SQLite itself syncs the log
/// before a commit can be seen; at NORMAL a durable commit is synced by us right after. FULL is for programs whose
/// commits are all durable: a mixture is cheaper at NORMAL.
struct DurabilityLevel {
  /// Durable commits in a row after which FULL is taken up again.
  private static let streak = 16

  private(set) var isFull = true
  /// What the connection was last set to; nil: not yet.
  var connectionIsFull: Bool?
  private var fullInARow = 0

  mutating func note(_ durability: Durability) {
    if durability == .full {
      fullInARow = min(fullInARow + 1, DurabilityLevel.streak)
      if fullInARow == DurabilityLevel.streak { isFull = true }
    } else {
      fullInARow = 0
      isFull = false
    }
  }
}
