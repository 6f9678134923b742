/// How an observed result is kept at the newest version, always off the caller.
public enum ResultUpkeep: Sendable, Hashable {
  /// A commit costs the rows it touched, O(log n) each, whatever the size of the result.
  case rowByRow
  /// As `rowByRow`, plus the size of the window that limits and offsets leave.
  case window
  /// Evaluated again and compared after each commit that touched what the query reads: with `distinct`, quantifiers and subqueries,
  /// and for results of lists, inverses and other ordered results.
  case askedAgain
}

extension Results {
  /// How these results are kept while observed. Reads no row.
  public var upkeep: ResultUpkeep { state.description.upkeep(in: store.reading.catalog) }
}
