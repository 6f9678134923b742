/// The identity of a list element: the replica that inserted it, and a counter of that replica's file. Never reused; a move keeps it.
public struct ElementID: Hashable, Sendable {
  /// The replica that inserted the element.
  public let replica: ReplicaID
  /// The counter of that replica's file at the insert.
  public let number: UInt64

  /// The id of the element that a replica inserted under a number.
  public init(_ replica: ReplicaID, _ number: UInt64) {
    self.replica = replica
    self.number = number
  }
}

extension ElementID: Comparable {
  /// By replica, then by number. Unrelated to the order of the list.
  public static func < (a: Self, b: Self) -> Bool { a.replica != b.replica ? a.replica < b.replica : a.number < b.number }
}

extension ElementID: CustomStringConvertible {
  public var description: String { "\(number)@\(replica)" }
}

/// Where an element stands in its list: a path of steps. Positions compare without the list. Between any two there is room for another,
/// and a position never changes when other elements do, so an insert needs no transform.
///
/// The scheme belongs to the family of Logoot and Fugue (Weiss, Urso, Molli 2009; Weidner, Kleppmann: *The Art of the Fugue*, 2023): tree
/// paths whose steps are told apart by their authors. It differs in its *gaps*: spaced numbers that keep appends and prepends of many
/// authors one step deep, where a plain tree grows one level with every change of author.
public struct ListPosition: Hashable, Sendable {
  /// One level of a position. Ordered by gap, then by bunch, then by offset.
  public struct Step: Hashable, Sendable {
    /// Orders bunches that were opened at different places of one level.
    public let gap: Int64
    /// The stamp of the operation that opened the bunch: a run of elements that one transaction inserted one after the other. Within one
    /// gap, bunches are ordered by time, so runs never interleave.
    public let bunch: Stamp
    /// The place within the bunch; negative for an element inserted in front.
    public let offset: Int64

    /// Creates a step from its parts.
    public init(gap: Int64, bunch: Stamp, offset: Int64 = 0) {
      self.gap = gap
      self.bunch = bunch
      self.offset = offset
    }
  }

  /// The steps, the outermost first; empty for no position, which sorts before every other.
  public let steps: [Step]

  /// Creates a position from its steps, the outermost first.
  public init(_ steps: [Step]) { self.steps = steps }

  /// No position; sorts before every other.
  public static let none = ListPosition([])
}

extension ListPosition.Step: Comparable {
  /// By gap, then by bunch, then by offset.
  public static func < (a: Self, b: Self) -> Bool {
    if a.gap != b.gap { return a.gap < b.gap }
    if a.bunch != b.bunch { return a.bunch < b.bunch }
    return a.offset < b.offset
  }
}

extension ListPosition: Comparable {
  /// Lexicographic; a position sorts before those it is a prefix of.
  public static func < (a: ListPosition, b: ListPosition) -> Bool { a.steps.lexicographicallyPrecedes(b.steps) }
}

extension ListPosition: CustomStringConvertible {
  public var description: String { steps.map { "\($0.gap):\($0.bunch)+\($0.offset)" }.joined(separator: "/") }
}
