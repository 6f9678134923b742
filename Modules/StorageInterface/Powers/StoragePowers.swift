// Powers are found in one way: a transaction or an engine lists them in a value, and a power that is not listed is not used.
// There are no casts: the first cast to each protocol searches the conformances of every library in the process, a good part of
// the first millisecond of a program that opens a store; and a cast does not see through a wrapper. None of the three has a
// default, so that a wrapper decides whether it passes powers on.

/// The powers of a transaction beyond reading.
public struct StoragePowers {
  /// Columns in memory can be lent.
  public var windows: (any WindowedReading)?
  /// Many single values can be read in one call.
  public var gathering: (any GatheringReading)?
  /// The engine can answer queries.
  public var pushdown: (any QueryPushdown)?
  /// The engine can compute aggregates.
  public var aggregates: (any AggregatePushdown)?
  /// The catalog's indexes of words are maintained and can be read.
  public var texts: (any TextIndexReading)?
  /// Side entries are stored and can be read.
  public var sides: (any SideReading)?
  /// Other programs may write the file, and what they wrote can be noticed before it is in the history.
  public var foreign: (any ForeignWriteReading)?
  /// The objects that anything links to can be found.
  public var targets: (any LinkedTargetReading)?

  /// Only the given powers.
  public init(
    windows: (any WindowedReading)? = nil, gathering: (any GatheringReading)? = nil,
    pushdown: (any QueryPushdown)? = nil, aggregates: (any AggregatePushdown)? = nil, texts: (any TextIndexReading)? = nil,
    sides: (any SideReading)? = nil, foreign: (any ForeignWriteReading)? = nil,
    targets: (any LinkedTargetReading)? = nil
  ) {
    self.windows = windows
    self.gathering = gathering
    self.pushdown = pushdown
    self.aggregates = aggregates
    self.texts = texts
    self.sides = sides
    self.foreign = foreign
    self.targets = targets
  }
}

/// The powers of a write beyond writing. Its powers beyond reading are in its `StoragePowers`.
public struct WritePowers {
  /// Side entries can be written.
  public var sides: (any SideWriting)?
  /// The history of another store can be adopted.
  public var history: (any HistoryAdopting)?

  /// Only the given powers.
  public init(sides: (any SideWriting)? = nil, history: (any HistoryAdopting)? = nil) {
    self.sides = sides
    self.history = history
  }
}

/// The powers of an engine beyond transactions.
public struct EnginePowers: Sendable {
  /// Holders of versions can be announced to other processes.
  public var announcing: (any VersionAnnouncing)?
  /// Visible commits can be synced later.
  public var syncing: (any DeferredSync)?
  /// Free space can be returned to the system.
  public var space: (any SpaceReclaiming)?
  /// The file's own structure can be verified.
  public var structure: (any StructureVerification)?
  /// A version can be copied to a new file.
  public var copying: (any FileCopying)?
  /// The key that the engine's file is encrypted with; nil if it is not encrypted. Whoever writes what the store contains to another
  /// file encrypts that with it.
  public var key: (any StoreKey)?

  /// Only the given powers.
  public init(
    announcing: (any VersionAnnouncing)? = nil, syncing: (any DeferredSync)? = nil, space: (any SpaceReclaiming)? = nil,
    structure: (any StructureVerification)? = nil, copying: (any FileCopying)? = nil, key: (any StoreKey)? = nil
  ) {
    self.announcing = announcing
    self.syncing = syncing
    self.space = space
    self.structure = structure
    self.copying = copying
    self.key = key
  }
}
