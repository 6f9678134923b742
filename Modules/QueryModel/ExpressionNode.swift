import StoreValues

/// One side of a comparison.
///
/// Cases are added as the language grows: an engine that answers parts of queries itself needs a default, which
/// leaves what it does not know to the caller.
public enum ExpressionNode: Sendable, Hashable, Codable {
  /// A value written in the query or passed as an argument.
  case constant(Value)
  /// Several values: the right side of `in` and `between`.
  case constants([Value])
  /// Several operands of which some are objects.
  case list([ExpressionNode])
  /// A certain object.
  case object(ObjectLiteral)
  /// `$name`: a value to be put in with `substituting` before the query is asked.
  case variable(String)
  /// A property of the object, or of an object it leads to. A path over a collection means each of its elements;
  /// `@count`, `@min`, `@max`, `@sum` and `@avg` are components that make one value of them.
  case path(PropertyPath)
  /// The text of the operand without the differences that do not count. Stands on both sides of a comparison.
  indirect case folded(ExpressionNode, Folding)
  /// A path over a collection, of whose elements any, all or none must compare.
  indirect case quantified(Quantifier, ExpressionNode)
  /// How many elements of a collection pass a condition.
  indirect case subquery(Subquery)
  /// Of two numbers. Integers divide to integers.
  indirect case arithmetic(ArithmeticOperator, ExpressionNode, ExpressionNode)
}

/// Which differences between texts do not count: `[c]` and `[d]`. Never depends on a locale.
public struct Folding: Sendable, Hashable, Codable {
  /// Unicode simple case folding.
  public var ignoresCase: Bool
  /// Canonical decomposition without its marks.
  public var ignoresDiacritics: Bool

  /// Which of the two do not count; with neither, texts compare by their bytes.
  public init(ignoresCase: Bool, ignoresDiacritics: Bool) {
    self.ignoresCase = ignoresCase
    self.ignoresDiacritics = ignoresDiacritics
  }

  /// `[c]`.
  public static let caseInsensitive = Folding(ignoresCase: true, ignoresDiacritics: false)
  /// `[d]`.
  public static let diacriticInsensitive = Folding(ignoresCase: false, ignoresDiacritics: true)
  /// `[cd]`.
  public static let caseAndDiacriticInsensitive = Folding(ignoresCase: true, ignoresDiacritics: true)
}

extension Folding: ExpressibleByArrayLiteral {
  /// What one of these lets pass: `[.caseInsensitive, .diacriticInsensitive]`.
  public init(arrayLiteral elements: Folding...) {
    self = elements.reduce(Folding(ignoresCase: false, ignoresDiacritics: false)) { $0.union($1) }
  }

  /// What one of the two lets pass.
  public func union(_ other: Folding) -> Folding {
    Folding(
      ignoresCase: ignoresCase || other.ignoresCase, ignoresDiacritics: ignoresDiacritics || other.ignoresDiacritics)
  }
}

/// How many elements of a collection have to compare. `all` holds for an empty one; `none` is the negation of
/// `any`.
public enum Quantifier: String, Sendable, Hashable, Codable, CaseIterable {
  case any = "ANY"
  case all = "ALL"
  case none = "NONE"
}

/// What is computed of two numbers.
public enum ArithmeticOperator: String, Sendable, Hashable, Codable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  /// The left side to the power of the right.
  case power = "**"
}

/// A certain object, by its type and what identifies it there. One that does not exist equals nothing.
public struct ObjectLiteral: Sendable, Hashable, Codable {
  /// What identifies an object among those of its type.
  public enum Identity: Sendable, Hashable, Codable {
    case key(ObjectKey)
    case primaryKey(Value)
  }

  /// The name of the type.
  public var type: String
  /// Its key, or the value of its primary key.
  public var identity: Identity
  /// Whose object it is, where that is known: keys of one store mean nothing in another, so a query of another one is refused.
  public var store: StoreIdentity?
  /// Where it was written.
  package var place = TextPlace()

  private enum CodingKeys: CodingKey { case type, identity, store }

  public init(type: String, _ identity: Identity, of store: StoreIdentity? = nil) {
    self.type = type
    self.identity = identity
    self.store = store
  }
}

/// `SUBQUERY(collection, $variable, condition).@count`.
public struct Subquery: Sendable, Hashable, Codable {
  /// Leads to objects.
  public var collection: PropertyPath
  /// With its `$`. Paths in the condition begin at the element, with the variable or without; those that begin with the
  /// variable of a SUBQUERY round this one, or with SELF, at that one's element, or at the object asked about.
  public var variable: String
  /// What is asked of each element.
  public var condition: PredicateNode

  public init(collection: PropertyPath, variable: String, condition: PredicateNode) {
    self.collection = collection
    self.variable = variable
    self.condition = condition
  }
}
