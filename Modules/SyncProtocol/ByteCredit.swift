/// The bytes that a side may still send, as granted by the other side. Without credit nothing is sent, and nothing is dropped.
public struct SendCredit: Hashable, Sendable {
  /// The bytes that may be sent now.
  public private(set) var bytes: UInt64

  /// Creates a credit; usually it begins with none.
  public init(bytes: UInt64 = 0) { self.bytes = bytes }

  /// Adds bytes that the other side has granted. Saturates on overflow.
  public mutating func grant(_ more: UInt64) {
    let (sum, overflow) = bytes.addingReportingOverflow(more)
    bytes = overflow ? .max : sum
  }

  /// Takes credit for a message of the given size and returns whether it may be sent now. A message longer than the remaining credit may
  /// be sent as long as there is any credit, and uses all of it: so a large message is late but never stuck.
  public mutating func take(_ size: Int) -> Bool {
    guard bytes > 0 else { return false }
    bytes -= min(bytes, UInt64(max(0, size)))
    return true
  }
}

/// The bytes granted to the other side and processed: decides when to grant more.
public struct ReceiveWindow: Hashable, Sendable {
  /// The maximal number of bytes under way.
  public let size: UInt64
  private var dealtWith: UInt64 = 0

  /// Creates a window; its size is at least 1.
  public init(size: UInt64) { self.size = max(1, size) }

  /// Notes processed bytes. Returns how many to grant now: at least half of the window, so that grants are few, or nil.
  public mutating func settle(_ bytes: Int) -> UInt64? {
    dealtWith += UInt64(max(0, bytes))
    guard dealtWith * 2 >= size else { return nil }
    defer { dealtWith = 0 }
    return dealtWith
  }
}
