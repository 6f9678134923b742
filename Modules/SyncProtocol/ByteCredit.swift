/// How many bytes a side may still send, as the other side has granted. Without credit nothing is sent; nothing is dropped.
public struct SendCredit: Hashable, Sendable {
  /// What may be sent now.
  public private(set) var bytes: UInt64

  /// Credit to begin with; usually none.
  public init(bytes: UInt64 = 0) { self.bytes = bytes }

  /// The other side takes so many more. An amount that no side can mean counts as very much.
  public mutating func grant(_ more: UInt64) {
    let (sum, overflow) = bytes.addingReportingOverflow(more)
    bytes = overflow ? .max : sum
  }

  /// Whether something of this size may go now; it is counted then. What is larger than all credit that there ever is goes once any is
  /// there, so that a large message is late and never stuck: it takes all.
  public mutating func take(_ size: Int) -> Bool {
    guard bytes > 0 else { return false }
    bytes -= min(bytes, UInt64(max(0, size)))
    return true
  }
}

/// What a side has granted and has dealt with: says when to grant again.
public struct ReceiveWindow: Hashable, Sendable {
  /// How many bytes may be under way.
  public let size: UInt64
  private var dealtWith: UInt64 = 0

  /// A window of a size; at least 1.
  public init(size: UInt64) { self.size = max(1, size) }

  /// So many bytes were dealt with. Returns what to grant now: nothing, or at least half of the window, so that grants are few.
  public mutating func settle(_ bytes: Int) -> UInt64? {
    dealtWith += UInt64(max(0, bytes))
    guard dealtWith * 2 >= size else { return nil }
    defer { dealtWith = 0 }
    return dealtWith
  }
}
