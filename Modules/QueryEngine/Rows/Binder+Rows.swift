import QueryModel
import Storage
import Values

extension Binder {
  /// Whether the operand is a constant or a path over to-one links alone, which has faster ways.
  func isSimple(_ node: ExpressionNode) -> Bool {
    switch node {
    case .constant, .constants: return true
    case .folded, .quantified, .subquery, .arithmetic: return false
    case .path(let path):
      if let first = path.components.first, variables.contains(first), path.components.count > 1 {
        return isSimple(.path(PropertyPath(Array(path.components.dropFirst()))))
      }
      var entry = table
      for (i, name) in path.components.enumerated() {
        guard let column = entry[name] else { return !(name.hasPrefix("@") || name.hasPrefix("[") || isLength(path, i) || name.lowercased() == "self") }
        if i == path.components.count - 1 { return column.schema.isScalar }
        guard case .scalar(.link) = column.schema.kind, let target = column.schema.target.flatMap({ catalog[$0] }) else {
          return isLength(path, i + 1) ? false : column.schema.isScalar && !path.components[i + 1].hasPrefix("@")
        }
        entry = target
      }
      return true
    }
  }

  private func isLength(_ path: PropertyPath, _ i: Int) -> Bool {
    i == path.components.count - 1 && path.components[i] == "length"
  }

  /// Any comparison, for single rows.
  mutating func bindRow(_ comparison: Comparison, depth: Int) throws(QueryError) -> Condition {
    var (left, right) = (comparison.left, comparison.right)
    var folding: Folding?
    if case .folded(let inner, let how) = left { (left, folding) = (inner, how) }
    if case .folded(let inner, let how) = right { (right, folding) = (inner, how) }
    if folding?.ignoresCase == false, folding?.ignoresDiacritics == false { folding = nil }
    var quantifier = Quantifier.any
    var (isQuantified, quantifiesRight) = (false, false)
    if case .quantified(let how, let inner) = left { (left, quantifier, isQuantified) = (inner, how, true) }
    if case .quantified(let how, let inner) = right, !isQuantified {
      (right, quantifier, isQuantified, quantifiesRight) = (inner, how, true, true)
    }
    if !isQuantified, isSimple(left), isSimple(right), folding != nil || comparison.comparator == .like || comparison.comparator == .matches,
      let condition = try bindText(left, comparison.comparator, right, folding)
    {
      return condition
    }
    let a = try row(left, depth)
    let b = try row(right, depth)
    if isQuantified, !(quantifiesRight ? b.isMany : a.isMany) {
      throw QueryError(
        .needsCollection, "\(quantifier.rawValue) needs a collection, and '\(describe(quantifiesRight ? right : left))' is one value.",
        remedy: "Leave \(quantifier.rawValue) out.", path: describe(quantifiesRight ? right : left))
    }
    try check(a, comparison.comparator, b, left, right)
    var whole = false
    if !isQuantified, comparison.comparator == .equal || comparison.comparator == .notEqual {
      if case .path(let path) = a, path.isWholeList, case .constants = b { whole = true }
      if case .path(let path) = b, path.isWholeList, case .constants = a { whole = true }
    }
    var text: TextTest?
    if case .constant(let value) = b, let bytes = value.withBytes({ $0.map { Array($0) } }),
      folding != nil || comparison.comparator == .like || comparison.comparator == .matches
    {
      text = try TextTest(comparison.comparator, bytes, folding)
    }
    return .row(
      .many(
        RowComparison(
          left: a, comparator: comparison.comparator, right: b, quantifier: quantifier, quantifiesRight: quantifiesRight,
          folding: folding, text: text, comparesWhole: whole)))
  }

  /// Own text, or text over to-one links, against one constant: a test that scans can run. nil: not this shape.
  private mutating func bindText(
    _ left: ExpressionNode, _ comparator: ComparisonOperator, _ right: ExpressionNode, _ folding: Folding?
  ) throws(QueryError) -> Condition? {
    guard case .path(let path) = left, case .constant(let value) = right else { return nil }
    let bound = try bind(path)
    guard bound.type == .string || bound.type == .data else { return nil }
    try check(bound.type, comparator, value, path)
    if value.isNull {
      let meaning: ComparisonOperator = comparator == .like || comparator == .matches ? .equal : comparator
      return try bind(Comparison(left, meaning, right))
    }
    let isNegated = comparator == .notEqual
    let needle = value.withBytes { $0.map { Array($0) } ?? [] }
    guard let text = try TextTest(isNegated ? .equal : comparator, needle, folding) else { return nil }
    let matchesNull = bound.type == .string && (comparator == .less || comparator == .lessOrEqual)
    let test = ScalarTest(.bytes(text.plain ?? .text(text)), matchesNull: matchesNull)
    let condition = condition(bound, test)
    return isNegated ? .not(condition) : condition
  }

  func describe(_ node: ExpressionNode) -> String {
    switch node {
    case .constant(let value): value.description
    case .constants(let values): "{" + values.prefix(4).map(\.description).joined(separator: ", ") + "}"
    case .path(let path): path.description
    case .folded(let inner, _), .quantified(_, let inner): describe(inner)
    case .subquery(let subquery): "SUBQUERY(\(subquery.collection))"
    case .arithmetic(let sign, let a, let b): "\(describe(a)) \(sign.rawValue) \(describe(b))"
    }
  }

  /// Whether the operands go together.
  private func check(
    _ a: RowExpression, _ comparator: ComparisonOperator, _ b: RowExpression, _ left: ExpressionNode, _ right: ExpressionNode
  ) throws(QueryError) {
    if comparator == .in, !b.isMany {
      throw QueryError(
        .needsCollection, "IN needs a list or a collection on its right.", remedy: "Use == for one value.", path: describe(right))
    }
    if comparator == .between {
      guard case .constants(let bounds) = b, bounds.count == 2 else {
        throw QueryError(.badArgument, "BETWEEN needs exactly two bounds.", remedy: "Give a lower and an upper bound.", path: describe(right))
      }
    }
    for (many, other, node) in [(a, b, left), (b, a, right)] {
      if case .path(let path) = many, case .objects = path.end, path.isMany, case .constant(.null) = other {
        throw QueryError(
          .typeMismatch, "'\(describe(node))' is a collection of objects and cannot be compared with nil.",
          remedy: "Compare its @count with 0.", path: describe(node))
      }
    }
    let (kinds, others) = (classes(a), classes(b))
    for kind in kinds {
      guard others.allSatisfy({ $0 == kind }) else {
        throw QueryError(
          .typeMismatch, "'\(describe(left))' is \(kind) and cannot be compared with '\(describe(right))'.",
          remedy: "Compare it with \(kind).", path: describe(left))
      }
      guard kind.allows(comparator) else {
        throw QueryError(
          .badOperator, "\(comparator.rawValue) does not go with '\(describe(left))', which is \(kind).",
          remedy: "Use an operator for \(kind).", path: describe(left))
      }
    }
  }

  /// The classes of the values an operand can have; none for null.
  private func classes(_ expression: RowExpression) -> Set<ValueClass> {
    switch expression {
    case .constant(let value): Set(value.type.map { [ValueClass($0)] } ?? [])
    case .constants(let values): Set(values.compactMap { $0.type.map(ValueClass.init) })
    case .path(let path): [ValueClass(path.type)]
    case .aggregate(let path, let aggregate):
      aggregate == .min || aggregate == .max ? [ValueClass(path.type)] : [.number]
    case .length, .subquery, .arithmetic: [.number]
    }
  }
}
