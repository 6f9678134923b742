import QueryModel
import StorageInterface
import StoreValues

/// An operand bound to a catalog in the form that single rows are asked in: what may mean many values, or takes
/// computing. Conditions over own columns do not come here.
indirect enum RowExpression: Sendable {
  case constant(Value)
  case constants([Value])
  /// Of single values.
  case list([RowExpression])
  /// A certain object: as a link, or nothing when it does not exist.
  case object(TableEntry, ObjectLiteral.Identity)
  /// The names of types that `@type` is compared with.
  case typeNames(TypeNames)
  case path(RowwisePath)
  case aggregate(RowwisePath, CollectionAggregate)
  case subquery(RowwisePath, Condition)
  case arithmetic(ArithmeticOperator, RowExpression, RowExpression)

  /// Whether it can mean more, or fewer, than one value.
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

/// A comparison of operands that may mean many values: holds where enough pairs of them compare.
struct RowComparison: Sendable {
  let left: RowExpression
  let comparator: ComparisonOperator
  let right: RowExpression
  /// nil where none was written: any.
  let leftQuantifier: Quantifier?
  let rightQuantifier: Quantifier?
  let folding: Folding?
  /// Prepared where the right side is one constant text.
  let text: TextTest?
  /// Whether a null stands below every string: both sides only hold strings, or nulls.
  let ordersNullText: Bool
}
