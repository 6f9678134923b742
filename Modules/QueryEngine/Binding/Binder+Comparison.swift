import QueryModel
import StorageInterface
import StoreValues

extension Binder {
  /// Binds a comparison. Errors carry its position in the text.
  mutating func bind(_ comparison: Comparison, depth: Int = 0) throws(QueryError) -> Condition {
    do throws(QueryError) { return try condition(try own(comparison), depth) } catch { throw error.placed(in: comparison) }
  }

  private mutating func condition(_ comparison: Comparison, _ depth: Int) throws(QueryError) -> Condition {
    let comparator = comparison.comparator
    if case .path(let path) = comparison.left, case .object(let object) = comparison.right, isSimple(comparison.left),
      let value = try linked(object, by: path, comparator)
    {
      return try compare(try bind(path), path, comparator, value)
    }
    guard comparator != .like, comparator != .matches, comparator != .text, isSimple(comparison.left), isSimple(comparison.right) else {
      return try bindRow(comparison, depth: depth)
    }
    // Text in text.
    if comparator == .in, case .path = comparison.right { return try bindRow(comparison, depth: depth) }
    if comparator == .in, case .constant(.string) = comparison.right { return try bindRow(comparison, depth: depth) }
    switch (comparison.left, comparison.right) {
    case (.constants, _): return try bindRow(comparison, depth: depth)
    case (_, .constants) where comparator != .in && comparator != .between:
      return try bindRow(comparison, depth: depth)  // with any of them
    case (_, .constants(let values)): return try bind(comparison.left, comparator, values)
    case (.path(let path), .constant(let value)): return try compare(try bind(path), path, comparator, value)
    case (.constant(let value), .path(let path)):
      if let mirrored = comparator.mirrored { return try compare(try bind(path), path, mirrored, value) }
      let bound = try bind(path)
      try check(bound.type, comparator, value, path)
      if value.isNull, comparator != .in { return .constant(false) }
      if bound.type == .mixed { return try bindRow(comparison, depth: depth) }
      return .row(.compare(.constant(value), comparator, .path(bound)))
    case (.constant(let a), .constant(let b)): return try compare(a, comparator, b)
    case (.path(let left), .path(let right)):
      let types = (try bind(left).type, try bind(right).type)
      if types.0 == .mixed || types.1 == .mixed { return try bindRow(comparison, depth: depth) }
      return try compare(left, comparator, right)
    default: return try bindRow(comparison, depth: depth)
    }
  }

  /// The value of a link to the given object, if its key is known without a lookup and the link has the object's type;
  /// otherwise nil.
  private mutating func linked(
    _ object: ObjectLiteral, by path: PropertyPath, _ comparator: ComparisonOperator
  ) throws(QueryError) -> Value? {
    try checkOwn(object)
    guard comparator == .equal || comparator == .notEqual, case .key(let key) = object.identity else { return nil }
    let bound = try bind(path)
    guard bound.type == .link, catalog[bound.end]?.schema.target == object.type else { return nil }
    return .link(key)
  }

  /// Rejects an object of another store: its key names a different object here.
  func checkOwn(_ object: ObjectLiteral) throws(QueryError) {
    guard let store = object.store, let own = catalog.identity, store != own else { return }
    throw QueryError(
      .wrongStore, "The \(object.type) object that the query names is of another store.",
      remedy: "Find it here by its primary key, and ask with that.", path: object.description)
  }

  private func compare(
    _ path: BoundPath, _ written: PropertyPath, _ comparator: ComparisonOperator, _ value: Value
  ) throws(QueryError) -> Condition {
    try check(path.type, comparator, value, written)
    guard let (test, isNegated) = ScalarTest.comparing(path.type, comparator, value) else {
      throw needsList(comparator, written.description)
    }
    let condition = condition(path, test)
    return isNegated ? .not(condition) : condition
  }

  func condition(_ path: BoundPath, _ test: ScalarTest) -> Condition {
    path.isOwn ? .own(OwnTest(column: path.end, type: path.type, test: test)) : .row(.path(path, test))
  }

  /// `IN` and `BETWEEN`.
  private mutating func bind(
    _ left: ExpressionNode, _ comparator: ComparisonOperator, _ values: [Value]
  ) throws(QueryError) -> Condition {
    if comparator == .between, values.count != 2 {
      throw QueryError(.badArgument, "BETWEEN needs exactly two bounds, not \(values.count).", remedy: "Give a lower and an upper bound.")
    }
    switch left {
    case .path(let path):
      let bound = try bind(path)
      for value in values { try check(bound.type, comparator, value, path) }
      if comparator == .in { return condition(bound, .among(bound.type, values)) }
      return .and([
        try compare(bound, path, .greaterOrEqual, values[0]), try compare(bound, path, .lessOrEqual, values[1]),
      ])
    case .constant(let value):
      if comparator == .in { return .constant(values.contains { Semantics.isEqual(value, $0) }) }
      return .and([try compare(value, .greaterOrEqual, values[0]), try compare(value, .lessOrEqual, values[1])])
    default:
      throw QueryError(
        .notSupported, "A list of values cannot stand left of \(comparator.rawValue).",
        remedy: "Put the property on the left.")
    }
  }

  private func compare(_ a: Value, _ comparator: ComparisonOperator, _ b: Value) throws(QueryError) -> Condition {
    if comparator == .in || comparator == .between { throw needsList(comparator, a.description) }
    if a.isNull || b.isNull {
      // A literal null: no value is below or above it.
      switch comparator {
      case .equal, .lessOrEqual, .greaterOrEqual: return .constant(a.isNull && b.isNull)
      case .notEqual: return .constant(!(a.isNull && b.isNull))
      default: return .constant(false)
      }
    }
    if let left = a.type.map(ValueClass.init), let right = b.type.map(ValueClass.init) {
      guard left.compares(with: right) else { throw mismatch(a.description, "\(left)", "\(right)") }
      guard left.allows(comparator) else { throw badOperator(comparator, a.description, "\(left)") }
    }
    return .constant(Semantics.holds(a, comparator, b))
  }

  private mutating func compare(
    _ left: PropertyPath, _ comparator: ComparisonOperator, _ right: PropertyPath
  ) throws(QueryError) -> Condition {
    let (a, b) = (try bind(left), try bind(right))
    if comparator == .in || comparator == .between { throw needsList(comparator, left.description) }
    let (kind, other) = (ValueClass(a.type), ValueClass(b.type))
    guard kind == other else { throw mismatch(left.description, a.type.rawValue, b.type.rawValue) }
    guard kind.allows(comparator) else { throw badOperator(comparator, left.description, a.type.rawValue) }
    if kind == .link, let from = catalog[a.end]?.schema.target, let to = catalog[b.end]?.schema.target, from != to {
      throw mismatch(left.description, from, to)
    }
    guard a.isOwn, b.isOwn, a.type.ordersByBytes, b.type.ordersByBytes else { return .row(.compare(.path(a), comparator, .path(b))) }
    func pair(_ x: BoundPath, _ comparator: PairTest.Comparator, _ y: BoundPath) -> Condition {
      .pair(PairTest(left: x.end, right: y.end, leftType: x.type, rightType: y.type, comparator: comparator))
    }
    switch comparator {
    case .equal: return pair(a, .equal, b)
    case .notEqual: return .not(pair(a, .equal, b))
    case .less: return pair(a, .less, b)
    case .lessOrEqual: return pair(a, .lessOrEqual, b)
    case .greater: return pair(b, .less, a)
    case .greaterOrEqual: return pair(b, .lessOrEqual, a)
    default: return .row(.compare(.path(a), comparator, .path(b)))
    }
  }

  func check(
    _ type: ValueType, _ comparator: ComparisonOperator, _ value: Value, _ path: PropertyPath
  ) throws(QueryError) {
    let kind = ValueClass(type)
    if let other = value.type, !ValueClass(other).compares(with: kind) {
      throw mismatch(path.description, type.rawValue, other.rawValue)
    }
    guard kind.allows(comparator) else { throw badOperator(comparator, path.description, type.rawValue) }
    let isText = [.contains, .beginsWith, .endsWith, .like, .matches, .text].contains(comparator)
    if isText, let other = value.type, !ValueClass(other).isText { throw badOperator(comparator, "\(value)", other.rawValue) }
  }

  func mismatch(_ path: String, _ left: String, _ right: String) -> QueryError {
    QueryError(
      .typeMismatch, "'\(path)' is \(left) and cannot be compared with \(right).", remedy: "Compare it with \(left).",
      path: path)
  }

  func badOperator(_ comparator: ComparisonOperator, _ path: String, _ type: String) -> QueryError {
    QueryError(
      .badOperator, "\(comparator.rawValue) does not go with '\(path)', which is \(type).",
      remedy: "Use an operator for \(type).", path: path)
  }

  private func needsList(_ comparator: ComparisonOperator, _ path: String) -> QueryError {
    QueryError(
      .badArgument, "\(comparator.rawValue) needs a list of values on its right.",
      remedy: comparator == .between ? "Give two bounds." : "Give the values in braces.", path: path)
  }
}
