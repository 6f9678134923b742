/// Why bytes do not decode to a changeset, record or piece, and where.
public struct CodingError: Error, Hashable, Sendable {
  /// What is wrong with the bytes.
  public enum Reason: Hashable, Sendable {
    /// The bytes end before the value does.
    case truncated
    /// There are bytes after the end of the value.
    case trailing
    /// The bytes have a format that this build does not know.
    case format(UInt8)
    /// A number that takes more bytes than it needs, or more than 64 bits.
    case number
    /// A count greater than the remaining bytes can hold.
    case count
    /// A reference past the end of its table.
    case reference
    /// A byte that is not valid at this place.
    case code(UInt8)
    /// A string that is not UTF-8.
    case text
    /// A value of a kind that does not belong here, or not in its canonical form.
    case value
    /// Nested lists and maps, or a path, deeper than allowed.
    case depth
    /// Keys that are not in ascending order.
    case order
    /// An action that does not fit its path.
    case path
    /// Stamps that run past the end of time.
    case time
  }

  /// What is wrong.
  public let reason: Reason
  /// The offset of the byte at which the error was found, from 0.
  public let position: Int

  /// Creates an error; `position` is an offset in bytes from 0.
  public init(_ reason: Reason, at position: Int) {
    self.reason = reason
    self.position = position
  }
}

extension CodingError: CustomStringConvertible {
  /// One sentence: what happened.
  public var message: String { "The bytes are no changes of a store: \(reason) at byte \(position)." }
  /// One sentence: what helps.
  public var remedy: String {
    if case .format = reason { return "Use a newer version of Vivarium." }
    return "They were damaged or forged on the way: ask for them again."
  }
  public var description: String { "\(message) \(remedy)" }
}
