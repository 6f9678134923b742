import StoreValues

/// The changes of one commit, as ids: the single source from which everything "live" is derived. Stored with the data in the
/// same transaction, so that another process, or a restarted one, sees the same history.
public struct CommitRecord: Sendable, Hashable {
  /// Set by the engine at commit.
  public var version = Version(0)
  /// The author, a free text that the writer chose.
  public var author: String?
  /// Identifies the store that wrote, among all stores and processes on one file: a number that a store gets when it is opened;
  /// the process draws its upper half. 0: unknown.
  public var origin: UInt64
  /// The time in milliseconds since 1970, by the writer's clock. For display; it orders nothing.
  public var timeMilliseconds: Int64
  /// Whether the commit changed the catalog, so that readers must reload it.
  public var changedCatalog: Bool
  /// The changed tables, ascending by table, without duplicates and empty changes.
  public var tables: [TableChange]
  /// Old and new values of scalars, if the writer records them; ascending by table, object and property.
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

  /// The number of objects and collections it names; for a decoded record, far from overflow. O(tables).
  package var changeCount: Int {
    tables.reduce(0) {
      $0 + $1.inserted.count + $1.deleted.count + $1.modified.count + $1.lists.count + $1.collections.count
    }
  }
}

extension Sequence<CommitRecord> {
  /// Whether commits name far more objects than exist. Then processing them costs more than evaluating everything again, and
  /// with a damaged file it might never end.
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

/// The changes of one commit in one table. An object is in at most one of `inserted`, `deleted` and `modified`: one inserted
/// and changed is inserted, one inserted and deleted is in none.
public struct TableChange: Sendable, Hashable {
  /// The changed table.
  public var table: TableID
  /// Objects that exist only after the commit.
  public var inserted: KeyRuns
  /// Objects that existed only before the commit.
  public var deleted: KeyRuns
  /// Objects that existed before and after, ascending by key, with the properties that were set to a different value or whose
  /// collection was edited.
  public var modified: [ModifiedObject]
  /// The edits of each changed list of an object that existed before and after, ascending by owner, then property.
  public var lists: [ListChange]
  /// The changes of each changed set and map of an object that existed before and after, ascending by owner, then property;
  /// none empty.
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

  /// Whether nothing changed in the table.
  public var isEmpty: Bool {
    inserted.isEmpty && deleted.isEmpty && modified.isEmpty && lists.isEmpty && collections.isEmpty
  }
}

/// An object with changes.
public struct ModifiedObject: Sendable, Hashable {
  /// The object.
  public var key: ObjectKey
  /// The properties set to a different value, and the edited collections.
  public var properties: PropertySet

  public init(key: ObjectKey, properties: PropertySet) {
    self.key = key
    self.properties = properties
  }
}

/// The edits of one list in order, as positions; the values are in the data.
public struct ListChange: Sendable, Hashable {
  /// One edit; positions apply to the list at that point.
  public enum Edit: Sendable, Hashable {
    case insert(at: Int, count: Int)
    case remove(Range<Int>)
    case set(at: Int)
    case move(from: Int, to: Int)
    case clear
  }
  /// The object that owns the list.
  public var owner: ObjectKey
  /// The list.
  public var property: PropertyID
  /// The edits in order.
  public var edits: [Edit]

  public init(owner: ObjectKey, property: PropertyID, edits: [Edit]) {
    self.owner = owner
    self.property = property
    self.edits = edits
  }
}

/// The net changes of one set or map by one commit: the changed members or keys. Their positions follow from
/// `StorageReading.position(of:)` in the versions before and after.
public struct RecordedCollectionChange: Sendable, Hashable {
  /// The object that owns the set or map.
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

/// The change of one member of a set or one key of a map.
public struct MemberChange: Sendable, Hashable {
  /// The kind of change.
  public enum Kind: UInt8, Sendable, Hashable {
    case inserted
    /// A key of a map has a new value. Never in a set.
    case modified
    case removed
  }

  /// The member of the set; for a map the key, as a string.
  public var member: Value
  /// The kind of change.
  public var kind: Kind

  public init(_ member: Value, _ kind: Kind) {
    self.member = member
    self.kind = kind
  }
}

extension MemberChange.Kind {
  /// Two successive changes combined into one; nil if they cancel out. A key removed and set again counts as modified; a member
  /// removed and inserted again is unchanged.
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
