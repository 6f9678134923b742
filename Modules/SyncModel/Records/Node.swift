/// An object, or an embedded one: what can be made and unmade as a whole.
public struct Node: Hashable, Sendable {
  /// Which incarnation the contents belong to.
  public internal(set) var guarding: EpochGuard
  /// Whether somebody made it in this epoch. If not, nothing of it is shown.
  public internal(set) var isMade: Bool
  /// The properties in this incarnation. They may be there before the node is made.
  public internal(set) var contents: Contents

  /// A node of its parts; by default one of which nothing is known.
  public init(guarding: EpochGuard = EpochGuard(), isMade: Bool = false, contents: Contents = Contents()) {
    self.guarding = guarding
    self.isMade = isMade
    self.contents = contents
  }

  /// Whether it says no more than that it is not there.
  var isNothing: Bool { !isMade && contents.isEmpty && guarding.epoch == .zero }
}

/// The properties of an object, by kind and name. A name that two replicas use for two kinds is two cells: so operations
/// on cells of different kinds never meet.
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

  /// The contents of an object in which nothing was done yet.
  public init() {}

  /// Whether no property has left anything to remember. O(1).
  public var isEmpty: Bool { values.isEmpty && embedded.isEmpty && lists.isEmpty && sets.isEmpty && maps.isEmpty }

  /// Whether there are elements kept beside the record, here or deeper.
  var holdsLists: Bool {
    !lists.isEmpty || embedded.contains { $0.value.contents.holdsLists }
      || maps.contains { $0.value.entries.contains { $0.value.slot.node.contents.holdsLists } }
  }
}

/// A place for one value, or for one embedded object: an element of a list, an entry of a map. Writing it begins a new
/// incarnation, so the guard's epoch is the stamp of the last write: one number decides who wins, and which object
/// inside an operation means.
public struct Slot: Hashable, Sendable {
  /// The embedded object, where there is one; its guard is that of the slot in any case.
  public internal(set) var node: Node
  /// What was written; null where an object is embedded (`node.isMade`).
  public internal(set) var value: CellValue

  /// A slot of its parts; by default one that was never written.
  public init(node: Node = Node(), value: CellValue = .null) {
    self.node = node
    self.value = value
  }
}

/// A list but for its elements, which are kept in pieces beside the record (`MergeState`, `ListPieces`).
public struct ListHead: Hashable, Sendable {
  /// Its epoch is the stamp of the last clear.
  public internal(set) var guarding = EpochGuard()
  /// The erased elements and the entries of the log that brought the erasure, until everybody has integrated that.
  public internal(set) var erased = SortedTable<ElementID, Seq>()

  /// A list in which nothing was done yet.
  public init() {}
}

/// A set: a register for each value that was ever in it, until a purge.
public struct MemberSet: Hashable, Sendable {
  /// A value that is, or was, in the set.
  public struct Member: Hashable, Sendable {
    /// In the form that the last writer gave it: 1 and 1.0 are one member.
    public internal(set) var value: CellValue
    /// Of the last insert or erasure; `.zero` once a purge has covered that.
    public internal(set) var stamp: Stamp
    /// Whether it is in the set no more. It is kept until a purge covers its stamp.
    public internal(set) var isErased: Bool
  }

  /// Its epoch is the stamp of the last clear.
  public internal(set) var guarding = EpochGuard()
  /// By what tells them apart; the erased ones too.
  public internal(set) var members = SortedTable<MemberKey, Member>()

  /// A set in which nothing was done yet.
  public init() {}
}

/// A map: a slot for each key that was ever in it, until a purge.
public struct EntryMap: Hashable, Sendable {
  /// Whether a map has a key. The raw values are part of the format.
  public enum Presence: UInt8, Hashable, Sendable {
    /// Known by an operation inside it alone; its write has not arrived.
    case unknown
    case present
    case erased
  }

  /// What is known of a key.
  public struct Entry: Hashable, Sendable {
    /// The value or the embedded object, and the stamp of the last write or erasure.
    public internal(set) var slot: Slot
    /// Whether the key was written or erased last. What the map shows says `isVisible`.
    public internal(set) var presence: Presence

    /// Whether the map shows it.
    public var isVisible: Bool { presence == .present || presence == .unknown && slot.node.isMade }
  }

  /// Its epoch is the stamp of the last clear.
  public internal(set) var guarding = EpochGuard()
  /// By key; the erased ones too.
  public internal(set) var entries = SortedTable<Name, Entry>()

  /// A map in which nothing was done yet.
  public init() {}
}

/// What merging knows of an object, without the elements of its lists. The same for the row of a server, the page of a
/// snapshot and, coded without values, what a client keeps beside its objects.
public struct ObjectRecord: Hashable, Sendable {
  /// The object itself, with what is embedded in it but for the elements of lists.
  public internal(set) var node: Node
  /// The last entry of the log that changed it.
  public internal(set) var lastSeq: Seq
  /// What the log has deleted while an own delete waits: which links lead nowhere if that is refused. A purge forgets it as it would have
  /// forgotten the object's own.
  var beneath = EpochGuard()

  /// A record of its parts; by default that of an object of which nothing is known.
  public init(node: Node = Node(), lastSeq: Seq = .zero) {
    self.node = node
    self.lastSeq = lastSeq
  }

  /// Takes note of an operation that was merged.
  ///
  /// - Parameters:
  ///   - before: the object's guard before it.
  ///   - epoch: the operation's, of a delete its stamp.
  /// - Returns: whether anything differs.
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

  /// Whether the object exists for those who read.
  public var isAlive: Bool { node.isMade }
}
