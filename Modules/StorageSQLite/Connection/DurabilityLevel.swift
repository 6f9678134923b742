import StorageInterface

/// The `synchronous` level of the writing connection.
///
/// The level must be set before a transaction, but its durability is known only at the end. At FULL, SQLite syncs the log
/// before a commit becomes visible; at NORMAL we sync a durable commit right after. FULL is for programs whose commits are all
/// durable; a mixture is cheaper at NORMAL.
struct DurabilityLevel {
  /// The number of consecutive durable commits after which FULL is used again.
  private static let streak = 16

  private(set) var isFull = true
  /// The level last set on the connection; nil: not yet.
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
