/// How a stored property follows from the objects at the other end of a relationship of the same type. Every write keeps it
/// right, in the commit that changes what it follows from.
public struct Derivation: Sendable, Hashable, Codable {
  /// The raw values are written to files; they never change meaning.
  public enum Function: String, Sendable, Hashable, Codable {
    /// How many there are, repeated ones as often as they come.
    case count
    /// Nulls are left out. 0 of none.
    case sum
    /// Nulls are left out. Null of none.
    case min
    case max
    case average
  }

  /// What is computed.
  public var function: Function
  /// A list, set, map or inverse of the type that has the derived property.
  public var relationship: String
  /// A number of the type the relationship points to; nil for `count`.
  public var property: String?

  public init(_ function: Function, of property: String? = nil, over relationship: String) {
    self.function = function
    self.relationship = relationship
    self.property = property
  }
}
