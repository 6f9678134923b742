/// An object or embedded object: something that can be made and unmade as a whole.
public struct Node: Hashable, Sendable {
  /// The incarnation that the contents belong to.
  public internal(set) var guarding: EpochGuard
  /// Whether somebody made the node in this epoch. If not, nothing of it is shown.
  public internal(set) var isMade: Bool
  /// The properties in this incarnation. They may exist before the node is made.
  public internal(set) var contents: Contents

  /// Creates a node; by default one of which nothing is known.
  public init(guarding: EpochGuard = EpochGuard(), isMade: Bool = false, contents: Contents = Contents()) {
    self.guarding = guarding
    self.isMade = isMade
    self.contents = contents
  }

  /// Whether the node has nothing to remember and does not exist.
  var isNothing: Bool { !isMade && contents.isEmpty && guarding.epoch == .zero }
}

/// The properties of an object, by kind and name. If two replicas use one name for two kinds, these are two cells, so operations on cells
/// of different kinds never meet.
public struct Contents: Hashable, Sendable {
  /// Properties that hold one value.
  public internal(set) var values = SortedTable<Name, Register>()
  /// Properties that hold an embedded object.
  public internal(set) var embedded = SortedTable<Name, Node>()
  /// Properties that are lists, without their elements.
  public internal(set) var lists = SortedTable<Name, ListHead>()
  /// Properties that are sets.
  public internal(set) var sets = SortedTable<Name, MemberSet>()
  /// Properties that are maps.
  public internal(set) var maps = SortedTable<Name, EntryMap>()

  /// Creates empty contents.
  public init() {}

  /// Whether no property has anything to remember. O(1).
  public var isEmpty: Bool { values.isEmpty && embedded.isEmpty && lists.isEmpty && sets.isEmpty && maps.isEmpty }

  /// Whether there are list elements beside the record, at any depth.
  var holdsLists: Bool {
    !lists.isEmpty || embedded.contains { $0.value.contents.holdsLists }
      || maps.contains { $0.value.entries.contains { $0.value.slot.node.contents.holdsLists } }
  }
}

/// A place for one value or one embedded object: an element of a list, an entry of a map. Writing it begins a new incarnation, so the
/// guard's epoch is the stamp of the last write. That one stamp decides which write wins, and which embedded object an operation inside
/// the slot means.
public struct Slot: Hashable, Sendable {
  /// The embedded object, if there is one; its guard is the slot's guard in any case.
  public internal(set) var node: Node
  /// The written value; null if an object is embedded (`node.isMade`).
  public internal(set) var value: CellValue

  /// Creates a slot; by default one that was never written.
  public init(node: Node = Node(), value: CellValue = .null) {
    self.node = node
    self.value = value
  }
}

/// A list without its elements, which are stored in pieces beside the record (`MergeState`, `ListPieces`).
public struct ListHead: Hashable, Sendable {
  /// Its epoch is the stamp of the last clear.
  public internal(set) var guarding = EpochGuard()
  /// The erased elements, and the entries of the log that brought the erasures, until a purge covers those.
  public internal(set) var erased = SortedTable<ElementID, Seq>()

  /// Creates an empty list.
  public init() {}
}

/// A set: until a purge, a register for each value that was ever in it.
public struct MemberSet: Hashable, Sendable {
  /// A value that is or was in the set.
  public struct Member: Hashable, Sendable {
    /// The value in the form of the last writer: 1 and 1.0 are one member.
    public internal(set) var value: CellValue
    /// The stamp of the last insert or erasure; `.zero` once a purge has covered it.
    public internal(set) var stamp: Stamp
    /// Whether the value is no longer in the set. The member is kept until a purge covers its stamp.
    public internal(set) var isErased: Bool
  }

  /// Its epoch is the stamp of the last clear.
  public internal(set) var guarding = EpochGuard()
  /// The members by key, including erased ones.
  public internal(set) var members = SortedTable<MemberKey, Member>()

  /// Creates an empty set.
  public init() {}
}

/// A map: until a purge, a slot for each key that was ever in it.
public struct EntryMap: Hashable, Sendable {
  /// Whether a map has a key. The raw values are part of the format.
  public enum Presence: UInt8, Hashable, Sendable {
    /// Known only from an operation inside it; its write has not arrived.
    case unknown
    case present
    case erased
  }

  /// The state of a key.
  public struct Entry: Hashable, Sendable {
    /// The value or embedded object, and the stamp of the last write or erasure.
    public internal(set) var slot: Slot
    /// Whether the last operation wrote or erased the key. `isVisible` says whether the map shows it.
    public internal(set) var presence: Presence

    /// Whether the map shows the key.
    public var isVisible: Bool { presence == .present || presence == .unknown && slot.node.isMade }
  }

  /// Its epoch is the stamp of the last clear.
  public internal(set) var guarding = EpochGuard()
  /// The entries by key, including erased ones.
  public internal(set) var entries = SortedTable<Name, Entry>()

  /// Creates an empty map.
  public init() {}
}

/// The merge metadata and values of an object, without the elements of its lists. It is the same in a server's row, in a page of a
/// snapshot and, encoded without values, beside a client's objects.
public struct ObjectRecord: Hashable, Sendable {
  /// The object with everything embedded in it, except list elements.
  public internal(set) var node: Node
  /// The last entry of the log that changed it.
  public internal(set) var lastSeq: Seq
  /// The guard of what the log has deleted while an own delete is pending: it decides which links lead nowhere if the own delete is
  /// refused. A purge forgets it as it would have forgotten the object's own guard.
  var beneath = EpochGuard()

  /// Creates a record; by default for an object of which nothing is known.
  public init(node: Node = Node(), lastSeq: Seq = .zero) {
    self.node = node
    self.lastSeq = lastSeq
  }

  /// Notes an operation that was merged.
  ///
  /// - Parameters:
  ///   - before: the object's guard before the merge.
  ///   - epoch: the operation's epoch; for a delete, its stamp.
  /// - Returns: whether anything changed.
  mutating func note(_ before: EpochGuard, _ epoch: Stamp, _ seq: Seq) -> Bool {
    let old = beneath
    if node.guarding.seq != .pending {
      beneath = EpochGuard()
    } else {
      if before.seq != .pending { beneath = before }
      if seq != .pending, epoch < node.guarding.epoch { _ = beneath.raise(to: epoch, seq: seq) }
    }
    return beneath != old
  }

  /// Whether the object exists for readers.
  public var isAlive: Bool { node.isMade }
}
