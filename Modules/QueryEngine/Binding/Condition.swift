import QueryModel
import StorageInterface
import StoreValues

/// A condition bound to a catalog: names resolved to columns, constants converted into tests over the stored form of their
/// column. The planner splits it, the evaluator runs it.
///
/// Logic is two-valued, so `not` is the complement over the live rows.
indirect enum Condition: Sendable {
  case constant(Bool)
  case and([Condition])
  case or([Condition])
  case not(Condition)
  /// A column of the queried table against constants.
  case own(OwnTest)
  /// A column of the queried table against another one.
  case pair(PairTest)
  /// A test that reads beyond the row. Evaluated row by row, for rows that passed everything else.
  case row(RowTest)
}

/// A test of a column of the queried table. `slot` is its position in the columns of a scan.
struct OwnTest: Sendable {
  let column: ColumnID
  let type: ValueType
  var test: ScalarTest
  var slot = 0
}

/// `left comparator right` between two columns of the queried table. Exchanging or negating the sides gives the other three
/// comparators.
struct PairTest: Sendable {
  enum Comparator: Sendable { case equal, less, lessOrEqual }
  let left: ColumnID
  let right: ColumnID
  let leftType: ValueType
  let rightType: ValueType
  let comparator: Comparator
  var leftSlot = 0
  var rightSlot = 0
}

enum RowTest: Sendable {
  /// The property at the end of a path over links, against constants. Null if a link is null.
  case path(BoundPath, ScalarTest)
  /// Any two operands.
  case compare(Operand, ComparisonOperator, Operand)
  /// Operands that may have many values or need computation.
  case many(RowComparison)
}

enum Operand: Sendable {
  case constant(Value)
  case path(BoundPath)
}

/// A path resolved in a catalog: the to-one links to follow, then the scalar to read.
struct BoundPath: Sendable {
  let links: [ColumnID]
  let end: ColumnID
  let type: ValueType
  let isOptional: Bool

  /// Whether it is a property of the object itself.
  var isOwn: Bool { links.isEmpty }
  /// The column of the queried table that is read first.
  var first: ColumnID { links.first ?? end }
}

extension Condition {
  /// The rough cost per row, for testing cheap conditions first.
  var cost: Int {
    switch self {
    case .constant: 0
    case .own(let own): own.test.cost
    case .pair: 3
    case .not(let inner): inner.cost
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.cost }
    case .row: 1000
    }
  }

  /// Whether the result for one object can depend on another object.
  var followsLinks: Bool {
    switch self {
    case .constant, .own, .pair: return false
    case .not(let inner): return inner.followsLinks
    case .and(let parts), .or(let parts): return parts.contains(where: \.followsLinks)
    case .row(.path(let path, _)): return !path.isOwn
    case .row(.compare(let a, _, let b)):
      return [a, b].contains { if case .path(let path) = $0 { !path.isOwn } else { false } }
    case .row(.many): return true
    }
  }

  /// Calls `body` for each column of the queried table that a scan needs for this condition.
  func forEachScanColumn(_ body: (PropertyID) -> Void) {
    switch self {
    case .constant: break
    case .and(let parts), .or(let parts): for part in parts { part.forEachScanColumn(body) }
    case .not(let inner): inner.forEachScanColumn(body)
    case .own(let own): body(own.column.property)
    case .pair(let pair):
      body(pair.left.property)
      body(pair.right.property)
    case .row: break
    }
  }

  /// Whether a scan needs the values of a column of the queried table, not only its nulls.
  func needsValues(of property: PropertyID) -> Bool {
    switch self {
    case .constant, .row: false
    case .and(let parts), .or(let parts): parts.contains { $0.needsValues(of: property) }
    case .not(let inner): inner.needsValues(of: property)
    case .own(let own): own.column.property == property && !own.test.isPresence
    case .pair(let pair): pair.left.property == property || pair.right.property == property
    }
  }

  /// The condition with its slots set to the positions in `columns`.
  func withSlots(in columns: [PropertyID]) -> Condition {
    func slot(_ column: ColumnID) -> Int { columns.firstIndex(of: column.property) ?? 0 }
    switch self {
    case .constant, .row: return self
    case .and(let parts): return .and(parts.map { $0.withSlots(in: columns) })
    case .or(let parts): return .or(parts.map { $0.withSlots(in: columns) })
    case .not(let inner): return .not(inner.withSlots(in: columns))
    case .own(var own):
      own.slot = slot(own.column)
      return .own(own)
    case .pair(var pair):
      pair.leftSlot = slot(pair.left)
      pair.rightSlot = slot(pair.right)
      return .pair(pair)
    }
  }
}
