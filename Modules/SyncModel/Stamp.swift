/// The author of changes: one file on one device. Random, drawn once, and never shared by two files: a copy of a file is
/// another replica. Ids with the top bit are event handlers of a server.
public struct ReplicaID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// The id of a number, as it is.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Whether it is a server's event handler.
  public var isHandler: Bool { rawValue >> 63 == 1 }

  /// By number, so that event handlers come after devices. Breaks ties, and says nothing of age.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension ReplicaID: CustomStringConvertible {
  public var description: String { String(rawValue, radix: 16) }
}

/// When and by whom an operation was made: the time of a hybrid logical clock, ties broken by the author. No two operations
/// have the same stamp, and one is later than everything its author had seen.
public struct Stamp: Hashable, Sendable {
  /// Milliseconds since 1970 shifted left by 16, plus a counter. The counter carries into the milliseconds: a burst of
  /// more than 65,536 operations in one millisecond runs ahead of the clock and nothing else.
  public let time: UInt64
  /// The author of the operation.
  public let replica: ReplicaID

  /// A stamp of a time in the unit of `time`, not in milliseconds.
  public init(time: UInt64, replica: ReplicaID) {
    self.time = time
    self.replica = replica
  }

  /// A stamp of its parts.
  ///
  /// - Parameter milliseconds: since 1970; only the lower 48 bits count.
  public init(milliseconds: UInt64, counter: UInt16, replica: ReplicaID) {
    self.init(time: milliseconds << 16 | UInt64(counter), replica: replica)
  }

  /// Before every operation: the epoch of what was never deleted, cleared or written.
  public static let zero = Stamp(time: 0, replica: ReplicaID(0))

  /// Milliseconds since 1970.
  public var milliseconds: UInt64 { time >> 16 }

  /// The stamp of the operation that comes `count` after this one in the same changeset. Wraps at the end of time, which
  /// neither `HybridClock.next` nor a decoded changeset reaches.
  public func advanced(by count: Int) -> Stamp { Stamp(time: time &+ UInt64(truncatingIfNeeded: count), replica: replica) }
}

extension Stamp: Comparable {
  /// By time, then by replica: the one order on which all replicas agree.
  public static func < (a: Stamp, b: Stamp) -> Bool { a.time != b.time ? a.time < b.time : a.replica < b.replica }
}

extension Stamp: CustomStringConvertible {
  public var description: String { self == .zero ? "0" : "\(milliseconds).\(time & 0xFFFF)@\(replica)" }
}

/// The place of an entry in the log of a store: 1, 2, 3 … without a gap, in the order of commits at the server.
public struct Seq: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// The place of a number, as it is.
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first entry.
  public static let zero = Seq(0)
  /// Of an own change that has no place in the log yet: after every entry, so that no purge reaches it.
  public static let pending = Seq(.max)

  /// By the order of the log; `.pending` is after every entry.
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension Seq: CustomStringConvertible {
  public var description: String { self == .pending ? "pending" : "\(rawValue)" }
}
