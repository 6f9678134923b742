import QueryModel
import StorageInterface
import StoreValues

/// An operand bound to a catalog for evaluation row by row: it may have many values or need computation. Conditions over own
/// columns do not use it.
indirect enum RowExpression: Sendable {
  case constant(Value)
  case constants([Value])
  /// Operands with single values.
  case list([RowExpression])
  /// An object, as a link; no value if it does not exist.
  case object(TableEntry, ObjectLiteral.Identity)
  /// The names of types that `@type` is compared with.
  case typeNames(TypeNames)
  case path(RowwisePath)
  case aggregate(RowwisePath, CollectionAggregate)
  case subquery(RowwisePath, Condition)
  case arithmetic(ArithmeticOperator, RowExpression, RowExpression)

  /// Whether it can have more, or fewer, than one value.
  var isMany: Bool {
    switch self {
    case .constant, .subquery, .object, .typeNames: false
    case .constants, .list: true
    case .path(let path): path.isMany
    case .aggregate(let path, _): path.groupsAggregates
    case .arithmetic(_, let a, let b): a.isMany || b.isMany
    }
  }

  /// Whether its value is the same for every row.
  var isConstant: Bool {
    switch self {
    case .constant, .constants, .typeNames: true
    case .list, .object, .path, .aggregate, .subquery: false
    case .arithmetic(_, let a, let b): a.isConstant && b.isConstant
    }
  }
}

enum CollectionAggregate: String, Sendable {
  case count = "@count"
  case min = "@min"
  case max = "@max"
  case sum = "@sum"
  case average = "@avg"

  init?(component: String) {
    self.init(rawValue: component == "@size" || component == "[size]" ? "@count" : component)
  }
}

/// A comparison of operands that may have many values: holds if enough pairs compare, by the quantifiers.
struct RowComparison: Sendable {
  let left: RowExpression
  let comparator: ComparisonOperator
  let right: RowExpression
  /// nil if none was written: ANY.
  let leftQuantifier: Quantifier?
  let rightQuantifier: Quantifier?
  let folding: Folding?
  /// Prepared if the right side is one constant text.
  let text: TextTest?
  /// Whether null sorts below every string: both sides hold only strings or nulls.
  let ordersNullText: Bool
}
