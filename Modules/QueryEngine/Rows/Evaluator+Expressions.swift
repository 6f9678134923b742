import QueryModel
import Storage
import Values

extension Evaluator {
  func matches(_ comparison: RowComparison, _ key: ObjectKey) throws(StorageError) -> Bool {
    let left = try values(comparison.left, key)
    let right = try values(comparison.right, key)
    if comparison.comparesWhole {
      let same = left.count == right.count && zip(left, right).allSatisfy { holds(comparison, $0, .equal, $1) }
      return same == (comparison.comparator == .equal)
    }
    let (outer, inner) = comparison.quantifiesRight ? (right, left) : (left, right)
    func passes(_ value: Value) -> Bool {
      if comparison.comparator == .between {
        // Two constants: the binder made sure of it.
        return holds(comparison, value, .greaterOrEqual, inner[0]) && holds(comparison, value, .lessOrEqual, inner[1])
      }
      return inner.contains { other in
        comparison.quantifiesRight
          ? holds(comparison, other, comparison.comparator, value) : holds(comparison, value, comparison.comparator, other)
      }
    }
    return switch comparison.quantifier {
    case .any: outer.contains(where: passes)
    case .all: outer.allSatisfy(passes)
    case .none: !outer.contains(where: passes)
    }
  }

  private func holds(_ comparison: RowComparison, _ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
    // A written null is below and above nothing; `LIKE` null is null.
    if b.isNull || a.isNull {
      switch comparator {
      case .like, .matches: return a.isNull && b.isNull
      case .less, .greater:
        if case .constant(.null) = comparison.right { return false }
        if case .constant(.null) = comparison.left { return false }
      case .lessOrEqual, .greaterOrEqual:
        if case .constant(.null) = comparison.right { return a.isNull }
        if case .constant(.null) = comparison.left { return b.isNull }
      default: break
      }
      return Semantics.holds(a, comparator, b)
    }
    if let text = comparison.text, comparator == comparison.comparator {
      return a.withBytes { $0.map { text.matches($0) } ?? false }
    }
    if comparison.folding != nil || comparator == .like || comparator == .matches {
      return textHolds(a, comparator, b, comparison.folding)
    }
    return Semantics.holds(a, comparator, b)
  }

  /// Text against text that is known only now.
  private func textHolds(_ a: Value, _ comparator: ComparisonOperator, _ b: Value, _ folding: Folding?) -> Bool {
    let needle: [UInt8]? = b.withBytes { $0.map { Array($0) } }
    let meaning: ComparisonOperator = comparator == .notEqual || comparator == .in ? .equal : comparator
    guard let needle, case .success(let made) = Result(catching: { () throws(QueryError) in try TextTest(meaning, needle, folding) }), let test = made else {
      return Semantics.holds(a, comparator, b)
    }
    let result = a.withBytes { $0.map { test.matches($0) } ?? false }
    return comparator == .notEqual ? !result : result
  }

  /// Every value the operand means for the object.
  func values(_ expression: RowExpression, _ key: ObjectKey) throws(StorageError) -> [Value] {
    switch expression {
    case .constant(let value): return [value]
    case .constants(let values): return values
    case .path(let path): return try values(path, key)
    case .aggregate(let path, let aggregate): return [try value(aggregate, path, key)]
    case .length(let inner):
      return try values(inner, key).map { value in value.withBytes { .int(Int64($0?.count ?? 0)) } }
    case .subquery(let path, let condition):
      var count: Int64 = 0
      for element in try objects(path, key) {
        guard let element, try ifLiving(false, { () throws(StorageError) in try matches(condition, element) }) else { continue }
        count += 1
      }
      return [.int(count)]
    case .arithmetic(let sign, let a, let b):
      let (left, right) = (try values(a, key), try values(b, key))
      return left.flatMap { x in right.map { y in Arithmetic.result(sign, x, y) } }
    }
  }

  private func value(_ aggregate: CollectionAggregate, _ path: RowPath, _ key: ObjectKey) throws(StorageError) -> Value {
    if aggregate == .count {
      if path.steps.isEmpty, case .elements(let column, at: nil) = path.end { return .int(Int64(try storage.elementCount(column, key))) }
      if case .objects = path.end { return .int(Int64(try objects(path, key).count { $0 != nil })) }
      return .int(Int64(try values(path, key).count))
    }
    return Arithmetic.aggregate(aggregate, try values(path, key).filter { !$0.isNull }, path.type)
  }

  private func values(_ path: RowPath, _ key: ObjectKey) throws(StorageError) -> [Value] {
    var result: [Value] = []
    for object in try objects(path, key) {
      switch path.end {
      case .objects: result.append(object.map(Value.link) ?? .null)
      case .scalar(let column):
        guard let object else {
          result.append(.null)
          continue
        }
        result.append(try path.steps.isEmpty ? storage.value(column, object) : ifLiving(.null) { () throws(StorageError) in try storage.value(column, object) })
      case .elements(let column, let position):
        guard let object else {
          if position != nil { result.append(.null) }
          continue
        }
        let found = try ifLiving([]) { () throws(StorageError) in try elements(column, object, position) }
        result += found.isEmpty && position != nil ? [.null] : found
      }
    }
    return result
  }

  private func elements(_ column: ColumnID, _ owner: ObjectKey, _ position: ElementPosition?) throws(StorageError) -> [Value] {
    switch position {
    case nil: return try storage.values(column, owner, 0..<Int.max)
    case .index(let index):
      guard index < Int.max else { return [] }
      return try storage.values(column, owner, index..<index + 1)
    case .last:
      let count = try storage.elementCount(column, owner)
      return count == 0 ? [] : try storage.values(column, owner, count - 1..<count)
    }
  }

  /// The objects that the steps of a path lead to; nil where a to-one link is null.
  private func objects(_ path: RowPath, _ key: ObjectKey) throws(StorageError) -> [ObjectKey?] {
    var current: [ObjectKey?] = [key]
    for (i, step) in path.steps.enumerated() {
      var next: [ObjectKey?] = []
      for object in current {
        guard let object else {
          if case .link = step { next.append(nil) }
          continue
        }
        let found = try i == 0 ? follow(step, object) : ifLiving([nil]) { () throws(StorageError) in try follow(step, object) }
        next += found
      }
      current = next
    }
    return current
  }

  private func follow(_ step: RowPath.Step, _ key: ObjectKey) throws(StorageError) -> [ObjectKey?] {
    func links(_ values: [Value]) -> [ObjectKey?] {
      values.map { if case .link(let target) = $0 { target } else { nil } }
    }
    switch step {
    case .link(let column): return [try storage.word(column, key).map { ObjectKey($0) }]
    case .list(let column, let position):
      let found = links(try elements(column, key, position))
      return found.isEmpty && position != nil ? [nil] : found
    case .inverse(let column): return try sources([column], key)
    case .inverses(let columns): return try sources(columns, key)
    }
  }

  private func sources(_ columns: [ColumnID], _ key: ObjectKey) throws(StorageError) -> [ObjectKey?] {
    var result: [ObjectKey?] = []
    for column in columns {
      try storage.sources(of: key, through: column) { block in
        for source in block { result.append(ObjectKey(source)) }
        return .proceed
      }
    }
    return result
  }

  /// Reads an object that something led to; the default where it is gone.
  private func ifLiving<R>(_ gone: R, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    do throws(StorageError) { return try body() } catch {
      if error.code == .objectDeleted { return gone }
      throw error
    }
  }
}
