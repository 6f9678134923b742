// What an engine can do beyond its protocols is found one way: a transaction or an engine names what it has in a value, and what it
// does not name is not used. Nobody casts: the first cast to each protocol looks through the conformances of every library in the
// process, and took a program that opens a store a good part of its first millisecond; and a cast does not see through a wrapper. None
// of the three has a default, so that a wrapper says whether it passes powers on.

/// What a transaction can do beyond reading.
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
  /// Side entries are kept, and can be read.
  public var sides: (any SideReading)?

  /// None but the given ones.
  public init(
    windows: (any WindowedReading)? = nil, gathering: (any GatheringReading)? = nil,
    pushdown: (any QueryPushdown)? = nil, aggregates: (any AggregatePushdown)? = nil, texts: (any TextIndexReading)? = nil,
    sides: (any SideReading)? = nil
  ) {
    self.windows = windows
    self.gathering = gathering
    self.pushdown = pushdown
    self.aggregates = aggregates
    self.texts = texts
    self.sides = sides
  }
}

/// What a write can do beyond writing. What it can do beyond reading is in its `StoragePowers`.
public struct WritePowers {
  /// Side entries can be written.
  public var sides: (any SideWriting)?
  /// A history can be taken over from another store.
  public var history: (any HistoryAdopting)?

  /// None but the given ones.
  public init(sides: (any SideWriting)? = nil, history: (any HistoryAdopting)? = nil) {
    self.sides = sides
    self.history = history
  }
}

/// What an engine can do beyond giving transactions.
public struct EnginePowers: Sendable {
  /// Who holds a version is announced to other processes.
  public var announcing: (any VersionAnnouncing)?
  /// Commits that are visible can be brought to the disk later.
  public var syncing: (any DeferredSync)?
  /// Free space can be given back to the system.
  public var space: (any SpaceReclaiming)?
  /// The file's own structure can be walked.
  public var structure: (any StructureVerification)?
  /// A version can be written into a file of its own.
  public var copying: (any FileCopying)?

  /// None but the given ones.
  public init(
    announcing: (any VersionAnnouncing)? = nil, syncing: (any DeferredSync)? = nil, space: (any SpaceReclaiming)? = nil,
    structure: (any StructureVerification)? = nil, copying: (any FileCopying)? = nil
  ) {
    self.announcing = announcing
    self.syncing = syncing
    self.space = space
    self.structure = structure
    self.copying = copying
  }
}
