/// The author of changes: one file on one device. A random number, drawn once and never shared by two files: a copy of a file is another
/// replica. Ids with the top bit set belong to event handlers of a server.
public struct ReplicaID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// Creates an id from a number, unchanged.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether the id belongs to an event handler of a server.
  public var isHandler: Bool { rawValue >> 63 == 1 }

  /// By number, so event handlers come after devices. The order breaks ties and says nothing about age.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension ReplicaID: CustomStringConvertible {
  public var description: String { String(rawValue, radix: 16) }
}

/// When and by whom an operation was made: the time of a hybrid logical clock, with ties broken by the author. No two operations have the
/// same stamp, and each stamp is later than every stamp its author had seen.
public struct Stamp: Hashable, Sendable {
  /// Milliseconds since 1970 shifted left by 16, plus a counter. The counter carries into the milliseconds, so a burst of more than
  /// 65,536 operations in one millisecond merely runs ahead of the clock.
  public let time: UInt64
  /// The author of the operation.
  public let replica: ReplicaID

  /// Creates a stamp; `time` is in the unit of the property, not in milliseconds.
  public init(time: UInt64, replica: ReplicaID) {
    self.time = time
    self.replica = replica
  }

  /// Creates a stamp from milliseconds and a counter.
  ///
  /// - Parameter milliseconds: since 1970; only the lower 48 bits count.
  public init(milliseconds: UInt64, counter: UInt16, replica: ReplicaID) {
    self.init(time: milliseconds << 16 | UInt64(counter), replica: replica)
  }

  /// Before every operation: the epoch of what was never deleted, cleared or written.
  public static let zero = Stamp(time: 0, replica: ReplicaID(0))

  /// Milliseconds since 1970.
  public var milliseconds: UInt64 { time >> 16 }

  /// The stamp of the operation `count` places later in the same changeset. Wraps at the end of time, which neither `HybridClock.next`
  /// nor a decoded changeset reaches.
  public func advanced(by count: Int) -> Stamp { Stamp(time: time &+ UInt64(truncatingIfNeeded: count), replica: replica) }
}

extension Stamp: Comparable {
  /// By time, then by replica: the one order on which all replicas agree.
  public static func < (a: Stamp, b: Stamp) -> Bool { a.time != b.time ? a.time < b.time : a.replica < b.replica }
}

extension Stamp: CustomStringConvertible {
  public var description: String { self == .zero ? "0" : "\(milliseconds).\(time & 0xFFFF)@\(replica)" }
}

/// The sequence number of an entry in a store's log: 1, 2, 3 … without a gap, in the order of commits at the server.
public struct Seq: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// Creates a sequence number, unchanged.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first entry.
  public static let zero = Seq(0)
  /// The number of an own change that is not in the log yet: above every entry, so no purge covers it.
  public static let pending = Seq(.max)

  /// In the order of the log; `.pending` comes after every entry.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension Seq: CustomStringConvertible {
  public var description: String { self == .pending ? "pending" : "\(rawValue)" }
}
