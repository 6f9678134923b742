import QueryModel
import Storage
import Values

/// An operand bound to a catalog in the form that single rows are asked in: what may mean many values, or takes
/// computing. Conditions over own columns do not come here.
indirect enum RowExpression: Sendable {
  case constant(Value)
  case constants([Value])
  case path(RowPath)
  case aggregate(RowPath, CollectionAggregate)
  /// The length of each string or data, in bytes; 0 for null.
  case length(RowExpression)
  case subquery(RowPath, Condition)
  case arithmetic(ArithmeticOperator, RowExpression, RowExpression)

  /// Whether it can mean more, or fewer, than one value.
  var isMany: Bool {
    switch self {
    case .constant, .aggregate, .subquery: false
    case .constants: true
    case .path(let path): path.isMany
    case .length(let inner): inner.isMany
    case .arithmetic(_, let a, let b): a.isMany || b.isMany
    }
  }
}

enum CollectionAggregate: String, Sendable {
  case count = "@count"
  case min = "@min"
  case max = "@max"
  case sum = "@sum"
  case average = "@avg"
}

/// A path that may lead over lists and inverses.
struct RowPath: Sendable {
  enum Step: Sendable {
    case link(ColumnID)
    /// Of links.
    case list(ColumnID, at: ElementPosition?)
    /// The objects whose links in the column lead here.
    case inverse(ColumnID)
    /// The objects of any type that lead here.
    case inverses([ColumnID])
  }

  enum End: Sendable {
    /// The objects the steps lead to, as links.
    case objects
    case scalar(ColumnID)
    /// The elements of a list of scalars.
    case elements(ColumnID, at: ElementPosition?)
  }

  var steps: [Step] = []
  var end: End = .objects
  /// Of the values at the end.
  var type: ValueType = .link
  var isMany = false
  /// Ends in a list of its own, which can be compared as a whole.
  var isWholeList = false
}

/// `[0]`, `[FIRST]`, `[LAST]`.
enum ElementPosition: Sendable {
  case index(Int)
  case last
}

/// A comparison of operands that may mean many values: holds where enough pairs of them compare.
struct RowComparison: Sendable {
  let left: RowExpression
  let comparator: ComparisonOperator
  let right: RowExpression
  /// Over the left side, or over the right where it was written there.
  let quantifier: Quantifier
  let quantifiesRight: Bool
  let folding: Folding?
  /// Prepared where the right side is one constant text.
  let text: TextTest?
  /// A list against a list of values, as wholes.
  let comparesWhole: Bool
}
