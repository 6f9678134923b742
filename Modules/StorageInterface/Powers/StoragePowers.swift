/// What a transaction can do beyond reading.
///
/// Asked instead of a cast: the first cast to each protocol looks through the conformances of every library in the
/// process, and took a program that opens a store a good part of its first millisecond.
public struct StoragePowers {
  /// Columns lie in memory and can be lent.
  public var windows: (any WindowedReading)?
  /// Many single values are read in one call.
  public var gathering: (any GatheringReading)?
  /// Queries can be answered by the engine.
  public var pushdown: (any QueryPushdown)?
  /// Totals can be made by the engine.
  public var aggregates: (any AggregatePushdown)?
  /// The indexes of words in the catalog are kept, and can be asked.
  public var texts: (any TextIndexReading)?

  public init(
    windows: (any WindowedReading)? = nil, gathering: (any GatheringReading)? = nil,
    pushdown: (any QueryPushdown)? = nil, aggregates: (any AggregatePushdown)? = nil, texts: (any TextIndexReading)? = nil
  ) {
    self.windows = windows
    self.gathering = gathering
    self.pushdown = pushdown
    self.aggregates = aggregates
    self.texts = texts
  }
}

extension VersionReading {
  /// The transaction itself where it conforms, found by a cast.
  public var sideReading: (any SideReading)? { self as? any SideReading }

  /// The protocols that the transaction conforms to.
  public var powers: StoragePowers {
    StoragePowers(
      windows: self as? any WindowedReading, gathering: self as? any GatheringReading,
      pushdown: self as? any QueryPushdown, aggregates: self as? any AggregatePushdown, texts: self as? any TextIndexReading)
  }
}
