import QueryModel
import StoreValues

/// The meaning of queries once more, written as plainly as it can be: no plan, no encoding, one object at a time.
struct PlainEvaluator {
  let world: World

  func keys(_ query: Query) -> [Int64] {
    var keys = sorted(world.keys.filter { holds(query.condition, $0) }, query.sort)
    if let limit = query.limit { keys = Array(keys.prefix(limit)) }
    for clause in query.clauses {
      switch clause {
      case .sort(let sort): keys = sorted(keys, sort)
      case .limit(let count): keys = Array(keys.prefix(count))
      case .offset(let count): keys = Array(keys.dropFirst(count))
      case .distinct(let paths):
        var kept: [Int64] = []
        for key in keys where paths.allSatisfy({ world.reaches($0, from: key) }) {
          let isNew = !kept.contains { other in
            paths.allSatisfy { world.value($0, of: key).order(to: world.value($0, of: other)) == .same }
          }
          if isNew { kept.append(key) }
        }
        keys = kept
      }
    }
    return keys
  }

  private func sorted(_ keys: [Int64], _ sort: [SortKey]) -> [Int64] {
    keys.enumerated().sorted { a, b in
      for key in sort {
        let order = order(key, a.element, b.element)
        if order != .same { return (order == .before) == key.ascending }
      }
      return a.offset < b.offset
    }.map(\.element)
  }

  /// What lies behind a null link comes after every value. Lists and maps are the same among themselves.
  private func order(_ key: SortKey, _ a: Int64, _ b: Int64) -> Value.Order {
    let path = key.path
    switch (world.reaches(path, from: a), world.reaches(path, from: b)) {
    case (true, true):
      switch (world.value(path, of: a), world.value(path, of: b)) {
      case (.list, .list), (.map, .map): return .same
      case (.string(let x), .string(let y)):
        return Value.string(PlainText.folded(x, key.folding)).order(to: .string(PlainText.folded(y, key.folding)))
      case let (x, y): return x.order(to: y)
      }
    case (true, false): return .before
    case (false, true): return .after
    case (false, false): return .same
    }
  }

  func holds(_ node: PredicateNode, _ key: Int64) -> Bool {
    switch node {
    case .constant(let value): value
    case .not(let inner): !holds(inner, key)
    case .and(let parts): parts.allSatisfy { holds($0, key) }
    case .or(let parts): parts.contains { holds($0, key) }
    case .comparison(let comparison): holds(comparison, key)
    }
  }

  /// A fraction written beside a float is one, beside a decimal it is that decimal; a decimal beside a double is a double. A
  /// finite number beyond the type stays what it is: infinity is another.
  private func adapted(_ node: ExpressionNode, to other: ExpressionNode) -> ExpressionNode {
    guard case .path(let path) = other else { return node }
    func adapted(_ value: Value) -> Value {
      switch (path.components.last, value) {
      case ("f", .double(let number)): Float(number).isInfinite && number.isFinite ? value : .float(Float(number))
      case ("f", .decimal(let number)): Float(Double(number)).isInfinite && !number.isInfinite ? value : .float(Float(Double(number)))
      case ("d", .decimal(let number)), ("dO", .decimal(let number)):
        Double(number).isInfinite && !number.isInfinite ? value : .double(Double(number))
      default: value
      }
    }
    switch node {
    case .constant(let value): return .constant(adapted(value))
    case .constants(let values): return .constants(values.map(adapted))
    default: return node
    }
  }

  private struct Rules {
    var folding: Folding?
    /// A null stands below every string.
    var ordersNull = false
  }

  private func holds(_ comparison: Comparison, _ key: Int64) -> Bool {
    var rules = Rules()
    func plain(_ node: ExpressionNode) -> ExpressionNode {
      guard case .folded(let inner, let folding) = node else { return node }
      rules.folding = folding
      return inner
    }
    let (first, second) = (plain(comparison.left), plain(comparison.right))
    let (a, b) = (adapted(first, to: second), adapted(second, to: first))
    rules.ordersNull = isText(a) && isText(b)
    let left = value(a, key)
    switch b {
    case .constants(let values) where comparison.comparator == .between:
      return [(0, ComparisonOperator.greaterOrEqual), (1, .lessOrEqual)].allSatisfy { at, comparator in
        rules.ordersNull = isText(a) && isText(.constant(values[at]))
        return compare(left, comparator, values[at], rules)
      }
    case .constants(let values): return values.contains { compare(left, .equal, $0, rules) }
    default:
      let right = value(b, key)
      // Text in text.
      if comparison.comparator == .in { return compare(right, .contains, left, rules) }
      return compare(left, comparison.comparator, right, rules)
    }
  }

  /// Whether every value is a string or null, and it is not a written null.
  private func isText(_ node: ExpressionNode) -> Bool {
    switch node {
    case .constant(.string): true
    case .path(let path): ["s", "sO", "name"].contains(path.components.last)
    default: false
    }
  }

  private func value(_ node: ExpressionNode, _ key: Int64) -> Value {
    switch node {
    case .constant(let value): value
    case .path(let path): world.value(path, of: key)
    case .arithmetic(let sign, let a, let b): PlainArithmetic.result(sign, value(a, key), value(b, key))
    default: .null
    }
  }

  private func compare(_ a: Value, _ comparator: ComparisonOperator, _ b: Value, _ rules: Rules) -> Bool {
    switch comparator {
    case .notEqual: return !compare(a, .equal, b, rules)
    case .greater: return compare(b, .less, a, rules)
    case .greaterOrEqual: return compare(b, .lessOrEqual, a, rules)
    case .lessOrEqual: return compare(a, .less, b, rules) || compare(a, .equal, b, rules)
    case .between: return false
    case .equal, .in, .like, .matches:
      if a.isNull || b.isNull { return a.isNull && b.isNull }
      if let result = text(a, comparator, b, rules) { return result }
      return !isNaN(a) && !isNaN(b) && order(a, b) == .same
    case .less:
      if a.isNull || b.isNull { return rules.ordersNull && a.isNull && !b.isNull }
      if let result = text(a, comparator, b, rules) { return result }
      return !isNaN(a) && !isNaN(b) && a.kindRank == b.kindRank && order(a, b) == .before
    case .contains, .beginsWith, .endsWith, .text:
      if let result = text(a, comparator, b, rules) { return result }
      guard case .data(let whole) = a, case .data(let part) = b else { return false }
      let (x, y) = (Array(whole), Array(part))
      switch comparator {
      case .beginsWith: return x.starts(with: y)
      case .endsWith: return x.reversed().starts(with: y.reversed())
      default: return y.isEmpty || x.indices.contains { x[$0...].starts(with: y) }
      }
    }
  }

  private func text(_ a: Value, _ comparator: ComparisonOperator, _ b: Value, _ rules: Rules) -> Bool? {
    guard case .string(let x) = a, case .string(let y) = b else { return nil }
    return PlainText.holds(x, comparator, y, rules.folding)
  }

  /// A decimal and a binary fraction compare as they are written.
  private func order(_ a: Value, _ b: Value) -> Value.Order {
    func written(_ value: Value) -> Decimal128? {
      switch value {
      case .double(let x): Decimal128(x.description) ?? Decimal128(x)
      case .float(let x): Decimal128(x.description) ?? Decimal128(x)
      default: nil
      }
    }
    if case .decimal(let x) = a, let y = written(b) { return x.order(to: y) }
    if case .decimal(let y) = b, let x = written(a) { return x.order(to: y) }
    return a.order(to: b)
  }

  private func isNaN(_ value: Value) -> Bool {
    switch value {
    case .float(let x): x.isNaN
    case .double(let x): x.isNaN
    case .decimal(let x): x.isNaN
    case .date(let x): x.isNaN
    default: false
    }
  }
}
