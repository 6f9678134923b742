/// The operator of a comparison. The reference evaluator (`QueryEngine`) defines its meaning for null, NaN and strings:
/// two-valued logic, strings by UTF-8 bytes.
public enum ComparisonOperator: String, Sendable, Hashable, Codable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// The left side equals one of the values on the right.
  case `in` = "IN"
  /// The left side is between the two values on the right, both inclusive.
  case between = "BETWEEN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// A pattern for the whole string: `*` is any run of characters, `?` any one code point, everything else itself.
  case like = "LIKE"
  /// A regular expression for the whole string.
  case matches = "MATCHES"
  /// Words in a string, in the syntax of `TextQuery`. The right side is a constant.
  case text = "TEXT"
}

/// `left operator right`.
public struct Comparison: Sendable, Hashable, Codable {
  /// The left operand.
  public var left: ExpressionNode
  /// The operator.
  public var comparator: ComparisonOperator
  /// The right operand.
  public var right: ExpressionNode
  /// Its position in the query's text.
  package var place = TextPlace()

  private enum CodingKeys: CodingKey { case left, comparator, right }

  public init(_ left: ExpressionNode, _ comparator: ComparisonOperator, _ right: ExpressionNode) {
    self.left = left
    self.comparator = comparator
    self.right = right
  }
}
