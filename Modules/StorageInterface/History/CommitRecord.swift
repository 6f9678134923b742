import StoreValues

/// What one commit changed, in ids: the one fact that everything "live" is derived from. Stored with the data
/// in the same transaction, so another process and a restart see the same history.
public struct CommitRecord: Sendable, Hashable {
  /// Set by the engine at commit.
  public var version = Version(0)
  /// Who wrote, by choice of the writer; free text.
  public var author: String?
  /// Tells apart the stores that write to one file, over processes: a number a store has from when it is opened, its upper
  /// half drawn by the process. 0: unknown.
  public var origin: UInt64
  /// When, in milliseconds since 1970, by the writer's clock. For people; nothing is ordered by it.
  public var timeMilliseconds: Int64
  /// The commit changed the catalog: readers reload it.
  public var changedCatalog: Bool
  /// Changes of tables in ascending order of table, each at most once, none empty.
  public var tables: [TableChange]
  /// What scalars were before and are after, where the writer records it; ascending by table, object and property.
  public var values: [RecordedValueChange] = []

  public init(
    author: String? = nil, origin: UInt64 = 0, timeMilliseconds: Int64 = 0, changedCatalog: Bool = false,
    tables: [TableChange] = []
  ) {
    self.author = author
    self.origin = origin
    self.timeMilliseconds = timeMilliseconds
    self.changedCatalog = changedCatalog
    self.tables = tables
  }

  /// How many objects and collections it names: of one that was read, far below the end of the numbers. O(tables).
  package var changeCount: Int {
    tables.reduce(0) {
      $0 + $1.inserted.count + $1.deleted.count + $1.modified.count + $1.lists.count + $1.collections.count
    }
  }
}

extension Sequence<CommitRecord> {
  /// Whether commits name far more objects than there are. To go through what they name costs more then than to look at
  /// everything anew, and of a damaged file it may never end.
  package func nameMore(thanIn readings: any StorageReading...) throws(StorageError) -> Bool {
    let named = reduce(0) { $0 + Swift.min($1.changeCount, 1 << 40) }
    if named <= 1 << 20 { return false }
    var there = 0
    for reading in readings {
      for table in reading.catalog.tables { there += Swift.min(try reading.count(table.id), 1 << 40) }
    }
    return named / 16 > there
  }
}

/// What one commit did to one table. An object is in at most one of `inserted`, `deleted` and `modified`:
/// inserted and changed is inserted, inserted and deleted is nothing.
public struct TableChange: Sendable, Hashable {
  /// The table that was changed.
  public var table: TableID
  /// Objects that are there after and were not before.
  public var inserted: KeyRuns
  /// Objects that were there before and are not after.
  public var deleted: KeyRuns
  /// Objects that were there before and after, ascending by key, with the properties that were set to a
  /// different value or whose collection was edited.
  public var modified: [ModifiedObject]
  /// What happened to each edited list of an object that was there before and after, ascending by owner, then
  /// property.
  public var lists: [ListChange]
  /// What happened to each changed set and map of an object that was there before and after, ascending by owner,
  /// then property; none empty.
  public var collections: [RecordedCollectionChange]

  public init(
    table: TableID, inserted: KeyRuns = KeyRuns(), deleted: KeyRuns = KeyRuns(), modified: [ModifiedObject] = [],
    lists: [ListChange] = [], collections: [RecordedCollectionChange] = []
  ) {
    self.table = table
    self.inserted = inserted
    self.deleted = deleted
    self.modified = modified
    self.lists = lists
    self.collections = collections
  }

  /// Whether nothing of the table was changed.
  public var isEmpty: Bool {
    inserted.isEmpty && deleted.isEmpty && modified.isEmpty && lists.isEmpty && collections.isEmpty
  }
}

/// An object of which something was changed.
public struct ModifiedObject: Sendable, Hashable {
  /// The object.
  public var key: ObjectKey
  /// What was set to a different value, and which collections were edited.
  public var properties: PropertySet

  public init(key: ObjectKey, properties: PropertySet) {
    self.key = key
    self.properties = properties
  }
}

/// The edits of one list in order, as positions; the values are in the data.
public struct ListChange: Sendable, Hashable {
  /// One edit; positions are those at its turn.
  public enum Edit: Sendable, Hashable {
    case insert(at: Int, count: Int)
    case remove(Range<Int>)
    case set(at: Int)
    case move(from: Int, to: Int)
    case clear
  }
  /// The object that has the list.
  public var owner: ObjectKey
  /// The list.
  public var property: PropertyID
  /// The edits, in their order.
  public var edits: [Edit]

  public init(owner: ObjectKey, property: PropertyID, edits: [Edit]) {
    self.owner = owner
    self.property = property
    self.edits = edits
  }
}

/// The net changes of one set or map by one commit: which members, or which keys. Positions follow from
/// `StorageReading.position(of:)` in the versions before and after.
public struct RecordedCollectionChange: Sendable, Hashable {
  /// The object that has the set or map.
  public var owner: ObjectKey
  /// The set or map.
  public var property: PropertyID
  /// Ascending by `Value.order(to:)` of their members, each member once.
  public var members: [MemberChange]

  public init(owner: ObjectKey, property: PropertyID, members: [MemberChange]) {
    self.owner = owner
    self.property = property
    self.members = members
  }
}

/// What happened to one member of a set or one key of a map.
public struct MemberChange: Sendable, Hashable {
  /// What happened.
  public enum Kind: UInt8, Sendable, Hashable {
    case inserted
    /// A key of a map has another value than before. Never in a set.
    case modified
    case removed
  }

  /// The member of the set; of a map the key, as a string.
  public var member: Value
  /// What happened to it.
  public var kind: Kind

  public init(_ member: Value, _ kind: Kind) {
    self.member = member
    self.kind = kind
  }
}

extension MemberChange.Kind {
  /// Both changes in turn as one; nil when they undo each other. A key that was removed and set again counts as
  /// modified; a member that was removed and inserted again is as it was.
  public func followed(by next: Self, inMap: Bool) -> Self? {
    switch (self, next) {
    case (.inserted, .removed): nil
    case (.inserted, _): .inserted
    case (.modified, .removed): .removed
    case (.modified, _): .modified
    case (.removed, .removed): .removed
    case (.removed, _): inMap ? .modified : nil
    }
  }
}
