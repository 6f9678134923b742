import StoreValues

/// One side of a comparison.
///
/// Cases are added as the language grows: an engine that answers parts of queries itself needs a default that leaves unknown
/// cases to the caller.
public enum ExpressionNode: Sendable, Hashable, Codable {
  /// A value written in the query or passed as an argument.
  case constant(Value)
  /// Several values: the right side of `in` and `between`.
  case constants([Value])
  /// Several operands, some of which are objects.
  case list([ExpressionNode])
  /// An object.
  case object(ObjectLiteral)
  /// A mixed value that links to objects of a known store.
  case mixed(MixedLiteral)
  /// `$name`: a placeholder, to be replaced by `substituting` before the query is run.
  case variable(String)
  /// A property of the object, or of an object it links to. A path over a collection means each of its elements; `@count`,
  /// `@min`, `@max`, `@sum` and `@avg` are components that reduce them to one value.
  case path(PropertyPath)
  /// The string of the operand without the differences that the folding ignores. Used on both sides of a comparison.
  indirect case folded(ExpressionNode, Folding)
  /// A path over a collection, and how many of its elements must compare: any, all or none.
  indirect case quantified(Quantifier, ExpressionNode)
  /// The number of elements of a collection that pass a condition.
  indirect case subquery(Subquery)
  /// An operation on two numbers. Integer division gives an integer.
  indirect case arithmetic(ArithmeticOperator, ExpressionNode, ExpressionNode)
}

/// The differences between strings to ignore: `[c]` and `[d]`. Never depends on a locale.
public struct Folding: Sendable, Hashable, Codable {
  /// Unicode simple case folding.
  public var ignoresCase: Bool
  /// Canonical decomposition, with marks removed.
  public var ignoresDiacritics: Bool

  /// Without either, strings are compared by their bytes.
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
  /// The union of several: `[.caseInsensitive, .diacriticInsensitive]`.
  public init(arrayLiteral elements: Folding...) {
    self = elements.reduce(Folding(ignoresCase: false, ignoresDiacritics: false)) { $0.union($1) }
  }

  /// Ignores the differences that either of the two ignores.
  public func union(_ other: Folding) -> Folding {
    Folding(
      ignoresCase: ignoresCase || other.ignoresCase, ignoresDiacritics: ignoresDiacritics || other.ignoresDiacritics)
  }
}

/// How many elements of a collection must compare. `all` holds for an empty collection; `none` is the negation of `any`.
public enum Quantifier: String, Sendable, Hashable, Codable, CaseIterable {
  case any = "ANY"
  case all = "ALL"
  case none = "NONE"
}

/// An operation on two numbers.
public enum ArithmeticOperator: String, Sendable, Hashable, Codable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  case divide = "/"
  /// The left side to the power of the right.
  case power = "**"
}

/// An object, by its type and its identity there. One that does not exist equals nothing.
public struct ObjectLiteral: Sendable, Hashable, Codable {
  /// Identifies an object within its type.
  public enum Identity: Sendable, Hashable, Codable {
    case key(ObjectKey)
    case primaryKey(Value)
  }

  /// The name of the type.
  public var type: String
  /// Its key, or the value of its primary key.
  public var identity: Identity
  /// The object's store, if known: keys of one store are meaningless in another, so a query with another store's object is
  /// rejected.
  public var store: StoreIdentity?
  /// Its position in the query's text.
  package var place = TextPlace()

  private enum CodingKeys: CodingKey { case type, identity, store }

  public init(type: String, _ identity: Identity, of store: StoreIdentity? = nil) {
    self.type = type
    self.identity = identity
    self.store = store
  }
}

/// A mixed value that links to objects, itself or in a part of it, and the store that they belong to: elsewhere its keys name other
/// objects, so a query of another store is rejected.
public struct MixedLiteral: Sendable, Hashable, Codable {
  /// The value, with links as it is stored.
  public var value: Value
  /// The store of the objects that it links to.
  public var store: StoreIdentity

  /// Creates an operand of a value and the store of what it links to.
  public init(_ value: Value, of store: StoreIdentity) {
    self.value = value
    self.store = store
  }
}

/// `SUBQUERY(collection, $variable, condition).@count`.
public struct Subquery: Sendable, Hashable, Codable {
  /// A path to objects.
  public var collection: PropertyPath
  /// Includes the `$`. Paths in the condition begin at the element, with or without the variable; those that begin with the
  /// variable of an enclosing SUBQUERY begin at that one's element, those with SELF at the object of the query.
  public var variable: String
  /// The condition for each element.
  public var condition: PredicateNode

  public init(collection: PropertyPath, variable: String, condition: PredicateNode) {
    self.collection = collection
    self.variable = variable
    self.condition = condition
  }
}
