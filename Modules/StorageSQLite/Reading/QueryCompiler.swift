import QueryModel
import StorageInterface
import StoreValues

/// Compiles the part of a query that SQLite evaluates exactly by our definition into SQL.
///
/// Exact are comparisons of a type's own scalars with constants of the same class: two-valued logic (`IS`, `IS NOT`, and every
/// term guarded so that it is never NULL), no NaN, and strings compared by bytes. The caller evaluates paths through links,
/// comparisons of two properties and constants of another class.
struct QueryCompiler {
  private let table: TableLayout
  private(set) var arguments: [Value] = []
  private var terms = 0
  private static let termsMax = 500
  /// The nesting depth of the node being translated.
  private var depth = 0
  /// SQLite's parser has a stack of a hundred entries, and a level takes three or more.
  private static let depthMax = 20

  init(_ table: TableLayout) { self.table = table }

  /// The condition as SQL that is 0 or 1 for every row; nil if there is no exact one.
  mutating func condition(_ node: PredicateNode) -> String? {
    let before = arguments
    let text = translate(node)
    if text == nil { arguments = before }
    return text
  }

  private mutating func translate(_ node: PredicateNode) -> String? {
    // SQLite rejects deeply nested expressions, and a chain of ORs is nested.
    terms += 1
    depth += 1
    defer { depth -= 1 }
    guard terms <= QueryCompiler.termsMax, depth <= QueryCompiler.depthMax else { return nil }
    switch node {
    case .constant(let value): return value ? "1" : "0"
    case .and(let parts): return join(parts, " AND ", empty: "1")
    case .or(let parts): return join(parts, " OR ", empty: "0")
    case .not(let part): return condition(part).map { "NOT \($0)" }
    case .comparison(let comparison): return translate(comparison)
    }
  }

  private mutating func join(_ parts: [PredicateNode], _ separator: String, empty: String) -> String? {
    var texts: [String] = []
    for part in parts {
      guard let text = condition(part) else { return nil }
      texts.append(text)
    }
    return texts.isEmpty ? empty : "(" + texts.joined(separator: separator) + ")"
  }

  private mutating func translate(_ comparison: Comparison) -> String? {
    switch (comparison.left, comparison.right) {
    case (.path(let path), .constant(.null)) where path.components.count == 1:
      // Possible for any scalar, whatever its storage form.
      guard let entry = table.entry[path.components[0]], let column = table[entry.id], column.kind == .scalar else { return nil }
      return test(column, comparison.comparator, .null)
    case (.path(let path), .constant(let value)):
      return column(path).flatMap { test($0, comparison.comparator, value) }
    case (.constant(let value), .path(let path)):
      guard let flipped = comparison.comparator.flipped else { return nil }
      return column(path).flatMap { test($0, flipped, value) }
    case (.path(let path), .constants(let values)):
      return column(path).flatMap { test($0, comparison.comparator, values) }
    default: return nil
    }
  }

  /// The type's own scalar at the end of a one-step path.
  func column(_ path: PropertyPath) -> ColumnLayout? {
    guard path.components.count == 1, let entry = table.entry[path.components[0]] else { return nil }
    return table[entry.id].flatMap { $0.kind == .scalar && !$0.cell.isTranslated ? $0 : nil }
  }

  /// Whether the node compares the leading column of an index with one constant, as a one-sided range.
  func isOpenRange(_ node: PredicateNode) -> Bool {
    guard case .comparison(let comparison) = node, [.less, .lessOrEqual, .greater, .greaterOrEqual].contains(comparison.comparator)
    else { return false }
    switch (comparison.left, comparison.right) {
    case (.path(let path), .constant), (.constant, .path(let path)):
      // Floating columns have separate terms in an index, and null texts are below all others: neither is a single run.
      guard let column = column(path), !column.cell.isFloating, !(column.cell.isText && column.mayBeNull) else { return false }
      return table.indexes.contains { $0.columns.first === column }
    default: return false
    }
  }

  // MARK: One column against constants

  private mutating func test(_ column: ColumnLayout, _ comparator: ComparisonOperator, _ value: Value) -> String? {
    if value.isNull {
      switch comparator {
      case .equal: return "(\(column.name) IS NULL)"
      case .notEqual: return "(\(column.name) IS NOT NULL)"
      default: return nil
      }
    }
    // Comparing decimals with other numbers needs more precision than SQLite's numbers have.
    if case .decimal = value { return nil }
    guard !value.isNaN, column.cell.place(of: value).isAmongValues else { return nil }
    switch comparator {
    case .equal: return same(column, value)
    case .notEqual: return same(column, value).map { "NOT \($0)" }
    case .less: return ordered(column, "<", value)
    case .lessOrEqual: return ordered(column, "<=", value)
    case .greater: return ordered(column, ">", value)
    case .greaterOrEqual: return ordered(column, ">=", value)
    case .beginsWith: return begins(column, value)
    case .contains: return contains(column, value)
    default: return nil
    }
  }

  private mutating func test(_ column: ColumnLayout, _ comparator: ComparisonOperator, _ values: [Value]) -> String? {
    switch comparator {
    case .in:
      // For so many constants the caller's own set is faster.
      guard values.count <= 256 else { return nil }
      return join(values.map { .comparison(Comparison(.path(path(column)), .equal, .constant($0))) }, " OR ", empty: "0")
    case .between:
      // A null bound has its own rules.
      guard values.count == 2, !values.contains(where: \.isNull) else { return nil }
      return join(
        [
          .comparison(Comparison(.path(path(column)), .greaterOrEqual, .constant(values[0]))),
          .comparison(Comparison(.path(path(column)), .lessOrEqual, .constant(values[1]))),
        ], " AND ", empty: "1")
    default: return nil
    }
  }

  private func path(_ column: ColumnLayout) -> PropertyPath { PropertyPath([column.entry.schema.name]) }

  private mutating func bound(_ value: Value) -> String {
    arguments.append(value)
    return "?"
  }

  /// `IS` gives 0 for null. NaN is a BLOB and equals no number; −0.0 is a BLOB and must equal 0.
  private mutating func same(_ column: ColumnLayout, _ value: Value) -> String? {
    if let terms = indexedTerms(column) { return "(\(terms[0]) IS 1 AND \(terms[1]) IS \(bound(value)))" }
    let test = "\(column.name) IS \(bound(value))"
    return column.cell.isFloating && value.isZero ? "(\(test) OR \(column.name) IS \(column.cell.negativeZero))" : "(\(test))"
  }

  private mutating func ordered(_ column: ColumnLayout, _ sign: String, _ value: Value) -> String? {
    guard column.cell.type != .link else { return nil }
    if let terms = indexedTerms(column) { return "(\(terms[0]) IS 1 AND \(terms[1]) \(sign) \(bound(value)))" }
    let isBelow = sign.hasPrefix("<")
    var test = "\(column.name) \(sign) \(bound(value))"
    if column.cell.isFloating {
      // SQLite sorts BLOBs above every number: NaN must not pass, −0.0 passes as 0 does.
      test = "(\(test) AND typeof(\(column.name)) <> 'blob'"
      let zero = Value.double(0).order(to: value)
      if zero.passes(sign) { test += " OR \(column.name) IS \(column.cell.negativeZero)" }
      test += ")"
    }
    // The NaN of dates is encoded below all others and compares with none.
    if isBelow, column.cell.type == .date { test += " AND \(column.name) >= \(Timestamp.negativeInfinity.word)" }
    guard column.mayBeNull else { return "(\(test))" }
    // A null string is below every string; any other null is neither below nor above.
    let isNullIn = isBelow && column.cell.type == .string
    return isNullIn ? "(\(column.name) IS NULL OR \(test))" : "(\(column.name) IS NOT NULL AND \(test))"
  }

  /// The terms of a floating column that leads an index: SQLite uses the index only for these. The first is 1 for numbers, and
  /// then the second is never null.
  private func indexedTerms(_ column: ColumnLayout) -> [String]? {
    guard column.cell.isFloating, table.indexes.contains(where: { $0.columns.first === column }) else { return nil }
    return column.orderTerms
  }

  /// The sort terms of a column: those of an index, if one may provide the order.
  func orderTerms(_ column: ColumnLayout) -> [String] {
    let isIndexed = table.indexes.contains { $0.columns.contains { $0 === column } }
    return isIndexed ? column.orderTerms : column.sortTerms
  }

  private mutating func begins(_ column: ColumnLayout, _ value: Value) -> String? {
    guard column.cell.isText, case .string(let prefix) = value else { return nil }
    if prefix.utf8.isEmpty { return "(\(column.name) IS NOT NULL)" }
    guard let end = prefix.successor else { return nil }
    let test = "\(column.name) >= \(bound(value)) AND \(column.name) < \(bound(.string(end)))"
    return "(\(column.name) IS NOT NULL AND \(test))"
  }

  private mutating func contains(_ column: ColumnLayout, _ value: Value) -> String? {
    guard column.cell.isText, case .string(let part) = value else { return nil }
    if part.utf8.isEmpty { return "(\(column.name) IS NOT NULL)" }
    return "(\(column.name) IS NOT NULL AND instr(\(column.name), \(bound(value))) > 0)"
  }
}

extension CellType.Place {
  fileprivate var isAmongValues: Bool { if case .at = self { true } else { false } }
}

extension Value.Order {
  fileprivate func passes(_ sign: String) -> Bool {
    switch sign {
    case "<": self == .before
    case "<=": self != .after
    case ">": self == .after
    default: self != .before
    }
  }
}

extension ComparisonOperator {
  /// The operator with its sides exchanged; nil if it is not symmetric.
  fileprivate var flipped: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: nil
    }
  }
}

extension String {
  /// The least string above all with this prefix: the last scalar that can be incremented is. Strings compare by UTF-8 bytes,
  /// which is the order of scalars. nil: there is none.
  fileprivate var successor: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // Skip the surrogates, which are not scalars.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let scalar = UnicodeScalar(next) else { continue }
      var result = String.UnicodeScalarView(scalars)
      result.append(scalar)
      return String(result)
    }
    return nil
  }
}
