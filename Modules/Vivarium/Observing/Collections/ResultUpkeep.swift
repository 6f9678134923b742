/// How an observed result is kept at the newest version, always off the caller.
public enum ResultUpkeep: Sendable, Hashable {
  /// A commit costs the rows it touched, each O(log n), whatever the size of the result.
  case rowByRow
  /// The same, and the size of the window that limits and offsets leave.
  case window
  /// Asked anew and compared after a commit that touched what the question reads: with `distinct`, quantifiers and
  /// subqueries, and results of lists, inverses and other ordered results.
  case askedAgain
}

extension Results {
  /// How these results would be kept, or are, when somebody observes them. Reads no row.
  public var upkeep: ResultUpkeep { state.description.upkeep(in: store.reading.catalog) }
}
