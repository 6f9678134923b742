/// What a run of a query cost, in counts: for tests, which assert work and never time, and for `inspect`.
public struct QueryStatistics: Sendable, Hashable {
  /// Batches that a scan delivered, and the rows in them, holes included.
  public var batches = 0
  /// See `batches`.
  public var rowsScanned = 0
  /// Keys read from an index, or from the engine's own query.
  public var entriesRead = 0
  /// Runs of an index that were only counted.
  public var runsCounted = 0
  /// Objects that were read one by one, to test what is left or to order them.
  public var rowsRead = 0
  /// The most rows that were held at a time to put them in order: all that passed, or with a limit little more than it.
  public var rowsHeld = 0

  /// Nothing was done yet.
  public init() {}
}
