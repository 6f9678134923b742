/// The rule by which a stored property is derived from the objects at the other end of a relationship of the same type. Every
/// write keeps the value current, in the commit that changes its dependencies.
public struct Derivation: Sendable, Hashable, Codable {
  /// The raw values are written to files and never change meaning.
  public enum Function: String, Sendable, Hashable, Codable {
    /// The number of objects, repeated ones counted repeatedly.
    case count
    /// Ignores nulls. 0 if there are no values.
    case sum
    /// Ignores nulls. Null if there are no values.
    case min
    case max
    case average
  }

  /// The aggregate function.
  public var function: Function
  /// A list, set, map or inverse of the type that has the derived property.
  public var relationship: String
  /// A number property of the relationship's target type; nil for `count`.
  public var property: String?

  public init(_ function: Function, of property: String? = nil, over relationship: String) {
    self.function = function
    self.relationship = relationship
    self.property = property
  }
}
