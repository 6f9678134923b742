/// The cost of running a query, in counts: for tests, which assert work and never time, and for `inspect`.
public struct QueryStatistics: Sendable, Hashable {
  /// Batches that a scan delivered. `rowsScanned` counts their rows, including deleted ones.
  public var batches = 0
  /// See `batches`.
  public var rowsScanned = 0
  /// Keys read from an index, or from the engine's own query.
  public var entriesRead = 0
  /// Index runs that were only counted.
  public var runsCounted = 0
  /// Objects read one by one, to test the residual condition or to sort.
  public var rowsRead = 0
  /// The most rows held at a time for sorting: all that passed or, with a limit, little more than the limit.
  public var rowsHeld = 0

  /// Zero counts.
  public init() {}
}
