import QueryModel
import Values

/// The meaning of queries once more, written as plainly as it can be: no plan, no encoding, one object at a time.
struct PlainEvaluator {
  let world: World

  func keys(_ query: Query) -> [Int64] {
    let passing = world.keys.filter { holds(query.condition, $0) }
    let ordered = passing.sorted { a, b in
      for key in query.sort {
        let order = order(key.path, a, b)
        if order != .same { return (order == .before) == key.ascending }
      }
      return a < b
    }
    return query.limit.map { Array(ordered.prefix($0)) } ?? ordered
  }

  /// What lies behind a null link comes after every value.
  private func order(_ path: PropertyPath, _ a: Int64, _ b: Int64) -> Value.Order {
    switch (world.reaches(path, from: a), world.reaches(path, from: b)) {
    case (true, true): world.value(path, of: a).order(to: world.value(path, of: b))
    case (true, false): .before
    case (false, true): .after
    case (false, false): .same
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

  /// A fraction written beside a float is one.
  private func adapted(_ node: ExpressionNode, to other: ExpressionNode) -> ExpressionNode {
    guard case .path(let path) = other, path.components.last == "f" else { return node }
    func adapted(_ value: Value) -> Value { if case .double(let number) = value { .float(Float(number)) } else { value } }
    switch node {
    case .constant(let value): return .constant(adapted(value))
    case .constants(let values): return .constants(values.map(adapted))
    default: return node
    }
  }

  private func holds(_ comparison: Comparison, _ key: Int64) -> Bool {
    var comparison = comparison
    (comparison.left, comparison.right) = (
      adapted(comparison.left, to: comparison.right), adapted(comparison.right, to: comparison.left)
    )
    let left = value(comparison.left, key)
    switch comparison.right {
    case .constants(let values) where comparison.comparator == .between:
      return compare(left, .greaterOrEqual, values[0], isWrittenNull: values[0].isNull)
        && compare(left, .lessOrEqual, values[1], isWrittenNull: values[1].isNull)
    case .constants(let values): return values.contains { compare(left, .equal, $0, isWrittenNull: false) }
    case let right:
      var isWrittenNull = false
      if case .constant(.null) = right { isWrittenNull = true }
      if case .constant(.null) = comparison.left { isWrittenNull = true }
      return compare(left, comparison.comparator, value(right, key), isWrittenNull: isWrittenNull)
    }
  }

  private func value(_ node: ExpressionNode, _ key: Int64) -> Value {
    switch node {
    case .constant(let value): value
    case .path(let path): world.value(path, of: key)
    default: .null
    }
  }

  private func compare(_ a: Value, _ comparator: ComparisonOperator, _ b: Value, isWrittenNull: Bool) -> Bool {
    switch comparator {
    case .notEqual: return !compare(a, .equal, b, isWrittenNull: isWrittenNull)
    case .greater: return compare(b, .less, a, isWrittenNull: isWrittenNull)
    case .greaterOrEqual: return compare(b, .lessOrEqual, a, isWrittenNull: isWrittenNull)
    case .lessOrEqual: return compare(a, .less, b, isWrittenNull: isWrittenNull) || compare(a, .equal, b, isWrittenNull: isWrittenNull)
    case .equal, .in:
      if a.isNull || b.isNull { return a.isNull && b.isNull }
      return !isNaN(a) && !isNaN(b) && a.order(to: b) == .same
    case .less:
      if isWrittenNull { return false }
      if a.isNull, case .string = b { return true }
      if a.isNull || b.isNull || isNaN(a) || isNaN(b) { return false }
      return a.order(to: b) == .before
    case .between, .like, .matches: return false
    case .contains, .beginsWith, .endsWith:
      guard let text = bytes(a), let needle = bytes(b) else { return false }
      if needle.isEmpty { return true }
      if needle.count > text.count { return false }
      let starts =
        switch comparator {
        case .beginsWith: 0...0
        case .endsWith: (text.count - needle.count)...(text.count - needle.count)
        default: 0...(text.count - needle.count)
        }
      return starts.contains { Array(text[$0..<$0 + needle.count]) == needle }
    }
  }

  private func bytes(_ value: Value) -> [UInt8]? { value.withBytes { $0.map { Array($0) } } }

  private func isNaN(_ value: Value) -> Bool {
    switch value {
    case .float(let x): x.isNaN
    case .double(let x): x.isNaN
    case .date: value.word.map { Double(bitPattern: UInt64(bitPattern: $0)).isNaN } ?? false
    default: false
    }
  }
}
