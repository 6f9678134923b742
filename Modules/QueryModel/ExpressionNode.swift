import Values

/// One side of a comparison.
public indirect enum ExpressionNode: Sendable, Hashable {
  /// A value written in the query or passed as an argument.
  case constant(Value)
  /// Several values: the right side of `in` and `between`.
  case constants([Value])
  /// A property of the object, or of an object it leads to.
  case path(PropertyPath)
}
