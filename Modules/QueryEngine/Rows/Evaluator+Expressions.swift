import QueryModel
import StorageInterface
import StoreValues

extension Evaluator {
  /// How many pairs of elements of two collections are computed with for one object.
  static let pairsMax = 1 << 20

  /// Holds when it does for one pair of groups: those of one owner's collection on the left, on the right.
  func matches(_ comparison: RowComparison, _ key: ObjectKey) throws(StorageError) -> Bool {
    var left = try groups(comparison.left, key)
    var right = try groups(comparison.right, key)
    if left.isEmpty { left = [[]] }
    if right.isEmpty { right = [[]] }
    return left.contains { l in right.contains { r in holds(comparison, l, r) } }
  }

  private func holds(_ comparison: RowComparison, _ left: [Value], _ right: [Value]) -> Bool {
    let comparator = comparison.comparator
    let (leftHow, rightHow) = (comparison.leftQuantifier, comparison.rightQuantifier)
    if comparator == .between {
      // Two constants: the binder made sure of it. As if the two comparisons were written: of several values one may be
      // above the lower bound and another below the upper one.
      let how = leftHow ?? .any
      return right.count == 2 && how.holds(left) { holds(comparison, $0, .greaterOrEqual, right[0]) }
        && how.holds(left) { holds(comparison, $0, .lessOrEqual, right[1]) }
    }
    if comparison.left.isMany, comparison.right.isMany, rightHow == nil {
      if leftHow == nil {
        // Two lists as wholes, pair by pair.
        if left.count != right.count { return comparator == .notEqual }
        return zip(left, right).allSatisfy { holds(comparison, $0, comparator, $1) }
      }
      let isLong = left.count > 2 && right.count > 2
      if isLong, leftHow == .all, comparator == .equal || comparator == .in { return isMatched(comparison, left, right) }
    }
    return (leftHow ?? .any).holds(left) { l in
      (rightHow ?? .any).holds(right) { r in holds(comparison, l, comparator, r) }
    }
  }

  /// Whether each value on the left has one of its own on the right.
  private func isMatched(_ comparison: RowComparison, _ left: [Value], _ right: [Value]) -> Bool {
    var rest = right
    for value in left {
      guard let at = rest.firstIndex(where: { holds(comparison, value, .equal, $0) }) else { return false }
      rest.remove(at: at)
    }
    return true
  }

  private func holds(_ comparison: RowComparison, _ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
    if comparison.left.isTypeName { return TypeNames.meet(a, b) == (comparator != .notEqual) }
    if b.isNull || a.isNull { return nullHolds(comparison, a, comparator, b) }
    if let text = comparison.text, case .constant(let constant) = comparison.right {
      let result = a.kindRank == constant.kindRank && a.withBytes { $0.map { text.matches($0) } ?? false }
      return comparator == .notEqual ? !result : result
    }
    if comparison.folding != nil || comparator == .like || comparator == .matches {
      return textHolds(a, comparator, b, comparison.folding)
    }
    return Semantics.holds(a, comparator, b)
  }

  /// A written null is below and above nothing; a null of a string property is below every string; `LIKE` null is null.
  private func nullHolds(_ comparison: RowComparison, _ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
    let both = a.isNull && b.isNull
    switch comparator {
    case .equal, .in, .like, .matches: return both
    case .notEqual: return !both
    case .contains, .beginsWith, .endsWith, .text, .between: return false
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      let isWritten = (a.isNull && comparison.left.isWritten) || (b.isNull && comparison.right.isWritten)
      if comparison.ordersNullText, !isWritten { return Semantics.holds(a, comparator, b) }
      return both && (comparator == .lessOrEqual || comparator == .greaterOrEqual)
    }
  }

  /// Text against text that is known only now.
  private func textHolds(_ a: Value, _ comparator: ComparisonOperator, _ b: Value, _ folding: Folding?) -> Bool {
    let needle: [UInt8]? = b.withBytes { $0.map { Array($0) } }
    let meaning: ComparisonOperator = comparator == .notEqual || comparator == .in ? .equal : comparator
    guard a.kindRank == b.kindRank, a.isBytes, let needle,
      case .success(let made) = Result(catching: { () throws(QueryError) in try TextTest(meaning, needle, folding) }),
      let test = made
    else { return Semantics.holds(a, comparator, b) }
    let result = a.withBytes { $0.map { test.matches($0) } ?? false }
    return comparator == .notEqual ? !result : result
  }

  /// Every value the operand means for the object, in groups: see `groups` of a path.
  func groups(_ expression: RowExpression, _ key: ObjectKey) throws(StorageError) -> [[Value]] {
    switch expression {
    case .constant(let value): return [[value]]
    case .constants(let values): return [values]
    case .typeNames(let names): return [[names.value]]
    case .object(let entry, let identity): return [try object(entry, identity).map { [.object(ObjectLink(entry.id, $0))] } ?? []]
    case .list(let elements):
      var values: [Value] = []
      for element in elements { values += try groups(element, key).flatMap(\.self) }
      return [values]
    case .path(let path): return try groups(path, origin(path, key))
    case .aggregate(let path, let aggregate): return try self.aggregate(aggregate, path, origin(path, key))
    case .subquery(let path, let condition):
      let inner = Evaluator(storage: storage, outers: outers + [key])
      var count: Int64 = 0
      for element in try objects(path.steps[...], origin(path, key)) {
        guard let element, try ifLiving(false, { () throws(StorageError) in try inner.matches(condition, element) })
        else { continue }
        count += 1
      }
      return [[.int(count)]]
    case .arithmetic(let sign, let a, let b):
      let (left, right) = (try groups(a, key), try groups(b, key))
      try checkPairs(left, right)
      return left.flatMap { l in right.map { r in l.flatMap { x in r.map { y in Arithmetic.result(sign, x, y) } } } }
    }
  }

  /// Two collections are computed with each other pair by pair, and the pairs are held in memory.
  private func checkPairs(_ left: [[Value]], _ right: [[Value]]) throws(StorageError) {
    let (count, other) = (left.reduce(0) { $0 + $1.count }, right.reduce(0) { $0 + $1.count })
    guard count > 1, other > 1, count.multipliedReportingOverflow(by: other).overflow || count * other > Evaluator.pairsMax else { return }
    throw StorageError(
      .tooLarge, .statement, "Collections of \(count) and \(other) elements make more than \(Evaluator.pairsMax) pairs.",
      remedy: "Compute with one value of a collection, as its @sum.")
  }

  /// Where a path begins. The binder made sure that there are as many objects round this one.
  private func origin(_ path: RowwisePath, _ key: ObjectKey) -> ObjectKey {
    path.outer == 0 ? key : outers[outers.count - path.outer]
  }

  private func object(_ entry: TableEntry, _ identity: ObjectLiteral.Identity) throws(StorageError) -> ObjectKey? {
    switch identity {
    case .key(let key): return key
    case .primaryKey(let value):
      guard let index = entry.primaryIndex, !value.isNull else { return nil }
      return try storage.key(in: index.id, equal: [value])
    }
  }

  /// One value, or one for each of many owners.
  private func aggregate(_ aggregate: CollectionAggregate, _ path: RowwisePath, _ key: ObjectKey) throws(StorageError) -> [[Value]] {
    if aggregate == .count {
      if path.steps.isEmpty, case .elements(let column, nil) = path.end, path.inside.isEmpty {
        return [[.int(Int64(try storage.elementCount(column, key)))]]
      }
      if case .objects = path.end { return [try linkCounts(path, key)] }
    }
    if path.groupsAggregates {
      let groups = try groups(path, key)
      return [groups.map { total(aggregate, $0, path) }]
    }
    let values = try groups(path, key).flatMap(\.self)
    if !path.isMany, path.type == .mixed { return [values.map { Evaluator.aggregate(aggregate, $0) }] }
    return [[total(aggregate, values, path)]]
  }

  /// Of the values of a collection. A map of objects has as many as it has objects: its nulls are none.
  private func total(_ aggregate: CollectionAggregate, _ values: [Value], _ path: RowwisePath) -> Value {
    guard aggregate == .count else { return Arithmetic.aggregate(aggregate, values, path.type) }
    if case .links = path.end { return .int(Int64(values.count { !$0.isNull })) }
    return .int(Int64(values.count))
  }

  /// How many objects each owner of the last relationship leads to; an owner behind a null link is none. All objects that
  /// point somewhere are counted together.
  private func linkCounts(_ path: RowwisePath, _ key: ObjectKey) throws(StorageError) -> [Value] {
    guard path.steps.count > 1, path.endsInCollection, let last = path.steps.last else {
      switch path.steps.first {
      case .list(let column, nil)?, .set(let column)?:
        if path.steps.count == 1 { return [.int(Int64(try storage.elementCount(column, key)))] }
      default: break
      }
      return [.int(Int64(try objects(path.steps[...], key).count { $0 != nil }))]
    }
    var result: [Value] = []
    for case let owner? in try objects(path.steps.dropLast(), key) {
      let count = try ifLiving(0) { () throws(StorageError) in
        switch last {
        case .list(let column, nil), .set(let column): return try storage.elementCount(column, owner)
        default: return try follow(last, owner).count { $0 != nil }
        }
      }
      result.append(.int(Int64(count)))
    }
    return result
  }

  /// Of a list or map that a mixed value is; the size of a text is its length. Null of all else.
  private static func aggregate(_ aggregate: CollectionAggregate, _ value: Value) -> Value {
    switch value {
    case .list(let elements): aggregate == .count ? .int(Int64(elements.count)) : Arithmetic.aggregate(aggregate, elements, .mixed)
    case .map(let map):
      aggregate == .count ? .int(Int64(map.count)) : Arithmetic.aggregate(aggregate, map.entries.map(\.value), .mixed)
    case .string(let text) where aggregate == .count: .int(Int64(text.utf8.count))
    case .data(let data) where aggregate == .count: .int(Int64(data.count))
    default: .null
    }
  }
}

extension Quantifier {
  fileprivate func holds(_ values: [Value], _ passes: (Value) -> Bool) -> Bool {
    switch self {
    case .any: values.contains(where: passes)
    case .all: values.allSatisfy(passes)
    case .none: !values.contains(where: passes)
    }
  }
}

extension RowExpression {
  fileprivate var isWritten: Bool {
    switch self {
    case .constant, .constants: true
    default: false
    }
  }
  fileprivate var isTypeName: Bool { if case .path(let path) = self { path.valueType == nil } else { isTypeNames } }
  private var isTypeNames: Bool {
    switch self {
    case .typeNames: true
    case .list(let elements): !elements.isEmpty && elements.allSatisfy(\.isTypeNames)
    default: false
    }
  }
}

extension Value {
  fileprivate var isBytes: Bool {
    switch self {
    case .string, .data: true
    default: false
    }
  }
}
