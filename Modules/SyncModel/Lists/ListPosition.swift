/// Which element of a list: who inserted it, and a counter of that replica's file. Never given to another element, and kept
/// by a move.
public struct ElementID: Hashable, Sendable {
  /// Who inserted the element.
  public let replica: ReplicaID
  /// The counter of that replica's file when it did.
  public let number: UInt64

  /// The element that a replica inserted under a number.
  public init(_ replica: ReplicaID, _ number: UInt64) {
    self.replica = replica
    self.number = number
  }
}

extension ElementID: Comparable {
  /// By replica, then by number. Says nothing of where elements stand.
  public static func < (a: Self, b: Self) -> Bool { a.replica != b.replica ? a.replica < b.replica : a.number < b.number }
}

extension ElementID: CustomStringConvertible {
  public var description: String { "\(number)@\(replica)" }
}

/// Where an element stands: a path of steps that compares by itself, without the list. Between any two positions there is
/// room for another, and it stays where it is whatever happens around it, so that an insert needs no transform.
///
/// The scheme belongs to the family of Logoot and Fugue (Weiss, Urso, Molli 2009; Weidner, Kleppmann: *The Art of the
/// Fugue*, 2023): tree paths whose steps are told apart by who made them. What is different are the *gaps*: numbers
/// that leave room beside each other, so that appends and prepends of many authors stay one step deep, where a plain
/// tree grows one level with every change of author.
public struct ListPosition: Hashable, Sendable {
  /// One level of a position. Ordered by gap, then by bunch, then by offset.
  public struct Step: Hashable, Sendable {
    /// Orders bunches made at different places of one level.
    public let gap: Int64
    /// The stamp of the operation that opened the bunch, a run of elements inserted one after the other by one
    /// transaction. At one gap bunches are ordered by time, and a run is never mixed with another.
    public let bunch: Stamp
    /// The place in the bunch; negative for what was inserted in front.
    public let offset: Int64

    /// A step of its parts.
    public init(gap: Int64, bunch: Stamp, offset: Int64 = 0) {
      self.gap = gap
      self.bunch = bunch
      self.offset = offset
    }
  }

  /// Empty for no position; then it is before every other.
  public let steps: [Step]

  /// A position of its steps, the outermost first.
  public init(_ steps: [Step]) { self.steps = steps }

  /// No position: before every other.
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
  /// Lexicographic; a position comes before those that begin with it.
  public static func < (a: ListPosition, b: ListPosition) -> Bool { a.steps.lexicographicallyPrecedes(b.steps) }
}

extension ListPosition: CustomStringConvertible {
  public var description: String { steps.map { "\($0.gap):\($0.bunch)+\($0.offset)" }.joined(separator: "/") }
}
