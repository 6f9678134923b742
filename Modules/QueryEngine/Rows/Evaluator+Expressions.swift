import QueryModel
import StorageInterface
import StoreValues

extension Evaluator {
  /// The most pairs of elements of two collections that arithmetic combines for one object.
  static let pairsMax = 1 << 20

  /// True if the comparison holds for one pair of groups: one owner's collection on the left and one on the right.
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
      // Two constants, as the binder made sure. As if written as two comparisons: of several values, one may be above the lower
      // bound and another below the upper one.
      let how = leftHow ?? .any
      return right.count == 2 && how.holds(left) { holds(comparison, $0, .greaterOrEqual, right[0]) }
        && how.holds(left) { holds(comparison, $0, .lessOrEqual, right[1]) }
    }
    if comparison.left.isMany, comparison.right.isMany, rightHow == nil {
      if leftHow == nil {
        // Compares two lists as wholes, element by element.
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

  /// Whether each value on the left has a distinct equal value on the right.
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

  /// A literal null is not below or above anything; a null string property is below every string; `LIKE` null matches null.
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

  /// Compares text with text that is known only at evaluation.
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

  /// All values of the operand for the object, in groups: see `groups` of a path.
  func groups(_ expression: RowExpression, _ key: ObjectKey) throws(StorageError) -> [[Value]] {
    switch expression {
    case .constant(let value): return [[value]]
    case .constants(let values): return [values]
    case .typeNames(let names): return [[names.value]]
    case .object(let entry, let identity): return [[.object(ObjectLink(entry.id, try object(entry, identity)))]]
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

  /// Limits arithmetic between two collections: it combines them pair by pair, and holds the pairs in memory.
  private func checkPairs(_ left: [[Value]], _ right: [[Value]]) throws(StorageError) {
    let (count, other) = (left.reduce(0) { $0 + $1.count }, right.reduce(0) { $0 + $1.count })
    guard count > 1, other > 1, count.multipliedReportingOverflow(by: other).overflow || count * other > Evaluator.pairsMax else { return }
    throw StorageError(
      .tooLarge, .statement, "Collections of \(count) and \(other) elements make more than \(Evaluator.pairsMax) pairs.",
      remedy: "Compute with one value of a collection, as its @sum.")
  }

  /// The object where a path begins. The binder made sure that there are enough enclosing objects.
  private func origin(_ path: RowwisePath, _ key: ObjectKey) -> ObjectKey {
    path.outer == 0 ? key : outers[outers.count - path.outer]
  }

  /// The object; nobody's key if there is none with this primary key. What does not link to it differs from it, as it does once the
  /// object exists: so no row's answer changes when the object comes or goes.
  private func object(_ entry: TableEntry, _ identity: ObjectLiteral.Identity) throws(StorageError) -> ObjectKey {
    let nobody = ObjectKey(.min)
    switch identity {
    case .key(let key): return key
    case .primaryKey(let value):
      guard let index = entry.primaryIndex, !value.isNull else { return nobody }
      return try storage.key(in: index.id, equal: [value]) ?? nobody
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

  /// The aggregate of a collection's values. The count of a map of objects excludes its nulls.
  private func total(_ aggregate: CollectionAggregate, _ values: [Value], _ path: RowwisePath) -> Value {
    guard aggregate == .count else { return Arithmetic.aggregate(aggregate, values, path.type) }
    if case .links = path.end { return .int(Int64(values.count { !$0.isNull })) }
    return .int(Int64(values.count))
  }

  /// The number of objects that each owner of the last relationship leads to; owners behind a null link are skipped. The
  /// objects of an `@links` without a type are counted together.
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

  /// The aggregate of a mixed value's list or map; the count of a string or data is its length. Null for anything else.
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
