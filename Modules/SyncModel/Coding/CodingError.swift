/// Why bytes are no changeset, record or piece, and where.
public struct CodingError: Error, Hashable, Sendable {
  /// What is wrong with the bytes.
  public enum Reason: Hashable, Sendable {
    /// The bytes end before the value does.
    case truncated
    /// There are bytes after the end of the value.
    case trailing
    /// Written by a format that this build does not know.
    case format(UInt8)
    /// A number that takes more bytes than it needs, or more than 64 bits.
    case number
    /// A count that cannot be true for the bytes that are left.
    case count
    /// A reference past the end of its table.
    case reference
    /// A byte that means nothing here.
    case code(UInt8)
    /// A text that is no UTF-8.
    case text
    /// A value of a kind that does not belong here, or in a form that is not the one form it has.
    case value
    /// Lists and maps in each other, or a path, deeper than is allowed.
    case depth
    /// Keys that do not ascend.
    case order
    /// An action that does not fit its path.
    case path
    /// Stamps that run past the end of time.
    case time
  }

  /// What is wrong.
  public let reason: Reason
  /// The byte at which it was seen, from 0.
  public let position: Int

  /// An error of a reason, seen at a byte counted from 0.
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
