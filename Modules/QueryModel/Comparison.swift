/// How two expressions are compared. The meaning of each over null, NaN and strings is the reference
/// evaluator's (`QueryEngine`): two-valued logic, strings by UTF-8 bytes.
public enum ComparisonOperator: String, Sendable, Hashable, Codable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  /// The left side equals one of the values on the right.
  case `in` = "IN"
  /// The left side lies between the two values on the right, bounds included.
  case between = "BETWEEN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  /// A pattern for the whole string: `*` is any run of characters, `?` any one code point, all else itself.
  case like = "LIKE"
  /// A regular expression for the whole string.
  case matches = "MATCHES"
  /// Words that a string has, as a `TextQuery` writes them. The right side is a constant.
  case text = "TEXT"
}

/// `left operator right`.
public struct Comparison: Sendable, Hashable, Codable {
  /// What is compared.
  public var left: ExpressionNode
  /// How.
  public var comparator: ComparisonOperator
  /// What it is compared with.
  public var right: ExpressionNode
  /// Where it was written.
  package var place = TextPlace()

  private enum CodingKeys: CodingKey { case left, comparator, right }

  public init(_ left: ExpressionNode, _ comparator: ComparisonOperator, _ right: ExpressionNode) {
    self.left = left
    self.comparator = comparator
    self.right = right
  }
}
