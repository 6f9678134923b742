import QueryModel
import StorageInterface
import StoreValues

extension Binder {
  /// Whether the operand is a constant or a path over to-one links only; these have faster evaluations.
  func isSimple(_ node: ExpressionNode) -> Bool {
    switch node {
    case .constant, .constants: return true
    case .folded, .quantified, .subquery, .arithmetic, .list, .object, .mixed, .variable: return false
    case .path(let path):
      var components = path.components[...]
      if components.count > 1, let own = try? ownComponents(path) { components = own }
      var entry = table
      for (i, name) in components.enumerated() {
        let isLast = i == components.count - 1
        guard let column = entry[name], case .scalar(let type) = column.schema.kind else { return false }
        if isLast { return true }
        guard type == .link, let target = column.schema.target.flatMap({ catalog[$0] }) else { return false }
        entry = target
      }
      return false
    }
  }

  /// One side of a comparison, with its quantifier and folding taken off.
  private struct Side {
    var node: ExpressionNode
    var quantifier: Quantifier?
    var folding: Folding?

    init(_ node: ExpressionNode) {
      self.node = node
      if case .folded(let inner, let how) = self.node {
        self.node = inner
        folding = how.ignoresCase || how.ignoresDiacritics ? how : nil
      }
      if case .quantified(let how, let inner) = self.node {
        self.node = inner
        quantifier = how
      }
    }
  }

  /// Binds any comparison for evaluation row by row.
  mutating func bindRow(_ comparison: Comparison, depth: Int) throws(QueryError) -> Condition {
    var (left, right) = (Side(comparison.left), Side(comparison.right))
    var comparator = comparison.comparator
    let folding = left.folding ?? right.folding
    let isText = folding != nil || comparator == .like || comparator == .matches || comparator == .text
    if comparator == .text { try checkWords(comparison, folding) }
    if left.quantifier == nil, right.quantifier == nil, isText, isSimple(left.node), isSimple(right.node),
      let condition = try bindText(left.node, comparator, right.node, folding)
    {
      return condition
    }
    var a = try row(left.node, depth)
    var b = try row(right.node, depth)
    // `'a' IN text` is `text CONTAINS 'a'`.
    if comparator == .in, left.quantifier == nil, right.quantifier == nil, !a.isMany, !b.isMany, a.isText, b.isText {
      (a, b, left, right, comparator) = (b, a, right, left, .contains)
    }
    for (side, operand) in [(left, a), (right, b)] where side.quantifier != nil && !operand.takesQuantifier {
      throw QueryError(
        .needsCollection, "\(side.quantifier?.rawValue ?? "") needs a collection, and '\(side.node)' is one value.",
        remedy: "Leave it out.", path: side.node.description)
    }
    (a, b) = (try adapted(a, to: b, left.node), try adapted(b, to: a, right.node, isChoice: comparator == .in))
    // Element counts matter only when whole lists are compared.
    let isWhole = a.isMany && b.isMany && right.quantifier == nil && comparator != .between
    if !isWhole || left.quantifier == .any || left.quantifier == Quantifier.none { (a, b) = (a.askingEachOnce, b.askingEachOnce) }
    try check(a, comparator, b, left.node, right.node, folding)
    if case .constant(let x) = a, case .constant(let y) = b, !isText, comparator != .in, comparator != .between {
      return .constant(Semantics.holds(x, comparator, y))
    }
    var text: TextTest?
    if isText, case .constant(let value) = b, let bytes = value.withBytes({ $0.map { Array($0) } }) {
      text = try TextTest(comparator == .notEqual || comparator == .in ? .equal : comparator, bytes, folding)
    }
    return .row(
      .many(
        RowComparison(
          left: a, comparator: comparator, right: b, leftQuantifier: left.quantifier, rightQuantifier: right.quantifier,
          folding: folding, text: text, ordersNullText: a.isText && b.isText)))
  }

  /// A string of the object, or over to-one links, against one constant: a test that scans can run. nil for another shape.
  private mutating func bindText(
    _ left: ExpressionNode, _ comparator: ComparisonOperator, _ right: ExpressionNode, _ folding: Folding?
  ) throws(QueryError) -> Condition? {
    guard case .path(let path) = left, case .constant(let value) = right else { return nil }
    let bound = try bind(path)
    guard bound.type == .string || bound.type == .data else { return nil }
    try check(bound.type, comparator, value, path)
    if value.isNull {
      if comparator == .text { return .constant(false) }
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

  /// Checks the operands of `TEXT`. Its words are known at binding and define their own folding.
  private func checkWords(_ comparison: Comparison, _ folding: Folding?) throws(QueryError) {
    if folding != nil {
      throw QueryError(
        .badOperator, "TEXT never tells case or diacritics apart.", remedy: "Leave the options out.", path: comparison.left.description)
    }
    switch comparison.right {
    case .constant, .variable: return  // the error for a variable without a value comes from elsewhere
    default:
      throw QueryError(
        .badArgument, "TEXT looks for the words of one text, and '\(comparison.right)' is none.", remedy: "Write the words in quotes.",
        path: comparison.right.description)
    }
  }

  mutating func row(_ node: ExpressionNode, _ depth: Int) throws(QueryError) -> RowExpression {
    guard depth < Binder.depthLimit else {
      throw QueryError(.tooComplex, "The expression is nested more than \(Binder.depthLimit) deep.", remedy: "Use fewer terms.")
    }
    switch node {
    case .constant(let value): return .constant(value)
    case .constants(let values): return .constants(values)
    case .path(let path): return try row(path)
    case .folded(let inner, _), .quantified(_, let inner): return try row(inner, depth + 1)
    case .subquery(let subquery): return try row(subquery, depth)
    case .object(let object): return try row(object)
    case .mixed(let mixed): return .constant(try own(mixed))
    case .arithmetic(let sign, let a, let b): return try row(sign, a, b, depth)
    case .list(let nodes):
      var elements: [RowExpression] = []
      for node in nodes { elements.append(try row(node, depth + 1)) }
      return .list(elements)
    case .variable(let name):
      throw QueryError(
        .missingArgument, "The variable '$\(name)' has no value.", remedy: "Put one in with substituting.", path: "$" + name)
    }
  }

  private mutating func row(
    _ sign: ArithmeticOperator, _ a: ExpressionNode, _ b: ExpressionNode, _ depth: Int
  ) throws(QueryError) -> RowExpression {
    for case .quantified(let quantifier, let inner) in [a, b] {
      throw QueryError(
        .notSupported, "\(quantifier.rawValue) stands within a computation, before '\(inner)'.",
        remedy: "Put one quantifier before the whole.", path: inner.description)
    }
    let (left, right) = (try row(a, depth + 1), try row(b, depth + 1))
    let operands = (try adapted(left, to: right, a), try adapted(right, to: left, b))
    for (operand, node) in [(operands.0, a), (operands.1, b)] where !operand.isNumeric {
      throw QueryError(.typeMismatch, "'\(node)' is no number.", remedy: "Compute with numbers.", path: node.description)
    }
    return .arithmetic(sign, operands.0, operands.1)
  }

  private func row(_ object: ObjectLiteral) throws(QueryError) -> RowExpression {
    try checkOwn(object)
    guard let entry = catalog[named: object.type] else {
      throw QueryError(.unknownType, "The store has no type '\(object.type)'.", remedy: "Check the name.", path: object.description)
    }
    guard case .primaryKey(let value) = object.identity else { return .object(entry, object.identity) }
    guard let key = entry.primaryKey, entry.primaryIndex != nil, let type = key.schema.valueType else {
      throw QueryError(
        .typeMismatch, "'\(entry.name)' has no primary key.", remedy: "Name the object in another way.", path: object.description)
    }
    guard value.type.map({ ValueClass($0) == ValueClass(type) }) ?? true else {
      throw mismatch(object.description, type.rawValue, value.type?.rawValue ?? "nil")
    }
    return .object(entry, object.identity)
  }

  private mutating func row(_ subquery: Subquery, _ depth: Int) throws(QueryError) -> RowExpression {
    let expression = try row(subquery.collection)
    guard case .path(let path) = expression, path.isMany, case .objects = path.end, let target = path.target,
      let entry = catalog[target], path.isAskable
    else {
      throw QueryError(
        .typeMismatch, "SUBQUERY needs a list of objects, and '\(subquery.collection)' is none.",
        remedy: "Name a list of objects or an inverse.", path: subquery.collection.description)
    }
    if subquery.variable == variable || outer.contains(where: { $0.variable == subquery.variable }) {
      throw QueryError(
        .typeMismatch, "The variable '\(subquery.variable)' is named by a SUBQUERY round this one.", remedy: "Use another name.",
        path: subquery.variable)
    }
    var inner = try Binder(entry.name, in: catalog)
    inner.variable = subquery.variable
    inner.outer = outer + [Scope(variable: variable, table: table)]
    let condition = try inner.bind(inner.adapted(subquery.condition, depth: depth + 1), depth: depth + 1).simplified()
    columns.formUnion(inner.columns)
    return .subquery(path, condition)
  }
}

extension RowwisePath {
  /// Whether SUBQUERY can iterate over it: sets and maps are not lists.
  fileprivate var isAskable: Bool {
    switch steps.last {
    case .list, .inverse: true
    default: false
    }
  }
}

extension RowExpression {
  /// Whether it stands for many values, or for one element of a collection.
  fileprivate var takesQuantifier: Bool {
    guard case .path(let path) = self, !path.isMany else { return isMany }
    switch path.end {
    case .elements, .value: return true
    default: return !path.inside.isEmpty
    }
  }

  /// The same values, possibly with fewer repetitions.
  fileprivate var askingEachOnce: RowExpression {
    guard case .path(var path) = self else { return self }
    path.asksEachOnce = true
    return .path(path)
  }

  /// Whether all its values are strings or null.
  var isText: Bool {
    switch self {
    case .constant(.string): true
    case .constants(let values): !values.isEmpty && values.allSatisfy { $0.isNull || $0.type == .string }
    case .path(let path): path.valueType == .string
    default: false
    }
  }

  var isNumeric: Bool {
    switch self {
    case .constant(let value): value.type.map(\.isNumber) ?? true
    case .constants(let values): values.allSatisfy { $0.type.map(\.isNumber) ?? true }
    case .list, .object, .typeNames: false
    case .path(let path): path.valueType.map { $0.isNumber || $0 == .mixed } ?? false
    case .aggregate(let path, let aggregate):
      aggregate == .min || aggregate == .max ? path.type.isNumber || path.type == .mixed : true
    case .subquery, .arithmetic: true
    }
  }
}
