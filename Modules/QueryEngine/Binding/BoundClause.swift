import QueryModel
import StorageInterface
import StoreValues

/// A clause of a query, bound to a catalog, and its application to the objects found so far.
enum BoundClause: Sendable {
  case sort([Field])
  case distinct([RowExpression])
  case limit(Int)
  case offset(Int)

  /// One sort key.
  struct Field {
    let value: RowExpression
    let isAscending: Bool
    let folding: Folding?
  }

  var sorts: Bool { if case .sort = self { true } else { false } }
  /// Whether the number of remaining objects depends on values.
  var dropsByValue: Bool { if case .distinct = self { true } else { false } }

  /// How many of `count` objects remain. Only for clauses that do not depend on values.
  func count(_ count: Int) -> Int {
    switch self {
    case .sort, .distinct: count
    case .limit(let limit): min(limit, count)
    case .offset(let offset): max(0, count - offset)
    }
  }

  /// Applies the clauses in turn. A sort before a limit keeps no more rows than the limit needs.
  static func apply(
    _ clauses: [BoundClause], to keys: [Int64], _ evaluator: Evaluator, _ statistics: inout QueryStatistics
  ) throws(StorageError) -> [Int64] {
    var keys = keys
    for (i, clause) in clauses.enumerated() {
      var wanted: Int?
      if i + 1 < clauses.count, case .limit(let limit) = clauses[i + 1] { wanted = limit }
      keys = try clause.apply(keys, wanted: wanted, evaluator, &statistics)
    }
    return keys
  }

  /// Reads each object once for a sort or a distinct. O(n log n); O(n log wanted) for a sort of which only the first `wanted`
  /// rows are used.
  private func apply(
    _ keys: [Int64], wanted: Int?, _ evaluator: Evaluator, _ statistics: inout QueryStatistics
  ) throws(StorageError) -> [Int64] {
    switch self {
    case .limit(let limit): return limit < keys.count ? Array(keys.prefix(limit)) : keys
    case .offset(let offset): return Array(keys.dropFirst(offset))
    case .sort(let fields):
      if wanted == 0 { return [] }
      var rows = RowsInOrder(wanted: wanted)
      for (place, key) in keys.enumerated() {
        var bytes: [UInt8] = []
        for field in fields { try evaluator.append(field, ObjectKey(key), to: &bytes) }
        rows.add(bytes, place)
        statistics.rowsHeld = max(statistics.rowsHeld, rows.count)
      }
      statistics.rowsRead += keys.count
      return rows.finish().map { keys[$0] }
    case .distinct(let paths):
      var seen: Set<[UInt8]> = []
      var result: [Int64] = []
      for key in keys {
        var bytes: [UInt8] = []
        var isWhole = true
        for path in paths where try !evaluator.append(path, ObjectKey(key), to: &bytes) { isWhole = false }
        if isWhole, seen.insert(bytes).inserted { result.append(key) }
      }
      statistics.rowsRead += keys.count
      return result
    }
  }
}

extension Evaluator {
  /// Appends bytes that sort as the value at the end of a path: null first; last, no value because of a null link on the way.
  func append(_ field: BoundClause.Field, _ key: ObjectKey, to bytes: inout [UInt8]) throws(StorageError) {
    let start = bytes.count
    if let value = try value(field.value, key) {
      value.folded(field.folding).appendSortKey(to: &bytes)
    } else {
      bytes.append(255)
    }
    if !field.isAscending { for i in start..<bytes.count { bytes[i] = ~bytes[i] } }
  }

  /// Appends bytes that distinguish values, lists and maps included. False if a null link leaves the object without a value.
  fileprivate func append(_ path: RowExpression, _ key: ObjectKey, to bytes: inout [UInt8]) throws(StorageError) -> Bool {
    guard let value = try value(path, key) else {
      bytes.append(255)
      return false
    }
    value.appendOrderKey(to: &bytes)
    return true
  }

  /// The value at the end of a path; nil if a link on the way is null.
  private func value(_ value: RowExpression, _ key: ObjectKey) throws(StorageError) -> Value? {
    switch value {
    case .path(let path), .aggregate(let path, _): if try !reaches(path, key) { return nil }
    default: break
    }
    return try groups(value, key).first?.first ?? .null
  }

  /// Whether no link is null on the way to the value, or to the collection that the value is computed from. Behind a
  /// collection, null links are skipped.
  private func reaches(_ path: RowwisePath, _ key: ObjectKey) throws(StorageError) -> Bool {
    var links = path.steps.prefix(while: { !$0.isMany })
    // A link at the end of the path is the value itself.
    if case .objects = path.end, links.count == path.steps.count { links = links.dropLast() }
    for case nil in try objects(links, key) { return false }
    return true
  }
}

extension Value {
  /// A string without the differences that the folding ignores; every other value unchanged.
  fileprivate func folded(_ folding: Folding?) -> Value {
    guard let folding, case .string(var text) = self else { return self }
    return .string(text.withUTF8 { String(decoding: TextFolding.fold(UnsafeRawBufferPointer($0), folding), as: UTF8.self) })
  }
}

extension RowExpression {
  /// Whether the value is, or may be, a string.
  fileprivate var mayBeText: Bool {
    guard case .path(let path) = self else { return false }
    return path.valueType == .string || path.valueType == .mixed
  }

  /// A path that is to-many only because of inverses, reduced to one value: see `RowwisePath.overFirstSources`.
  fileprivate var overFirstSources: RowExpression {
    guard isMany else { return self }
    switch self {
    case .path(let path): return .path(path.overFirstSources)
    case .aggregate(var path, let aggregate):
      // The aggregated collection, which is the last step if no other follows it, stays unchanged.
      var collection: [RowwisePath.Step] = []
      if case .objects = path.end { collection = path.steps.suffix(1) }
      path.steps.removeLast(collection.count)
      path.steps = path.overFirstSources.steps
      path.hasManyOwners = path.steps.contains(where: \.isMany)
      path.steps += collection
      return .aggregate(path, aggregate)
    default: return self
    }
  }
}

extension Binder {
  mutating func bind(_ clause: QueryClause) throws(QueryError) -> BoundClause {
    switch clause {
    case .limit(let count):
      guard count >= 0 else { throw QueryError(.badArgument, "The limit is \(count).", remedy: "Give 0 or more.") }
      return .limit(count)
    case .offset(let count):
      guard count >= 0 else { throw QueryError(.badArgument, "The offset is \(count).", remedy: "Give 0 or more.") }
      return .offset(count)
    case .sort(let keys):
      var fields: [BoundClause.Field] = []
      for key in keys {
        let value = try placing(key.path) { binder throws(QueryError) in try binder.single(key.path, isSort: true) }
        guard key.folding == nil || value.mayBeText else {
          throw QueryError(
            .typeMismatch, "'\(key.path)' is no text: it has no case and no diacritics to be left out of the order.",
            remedy: "Order by it without [c] and [d].", path: key.path.description, position: key.path.place.byte)
        }
        fields.append(BoundClause.Field(value: value, isAscending: key.ascending, folding: key.folding))
      }
      return .sort(fields)
    case .distinct(let paths):
      var bound: [RowExpression] = []
      for path in paths {
        bound.append(try placing(path) { binder throws(QueryError) in try binder.single(path, isSort: false) })
      }
      return .distinct(bound)
    }
  }

  /// Binds a path to one value, possibly an aggregate of many.
  private mutating func single(_ path: PropertyPath, isSort: Bool) throws(QueryError) -> RowExpression {
    let bound = try row(path).overFirstSources
    guard !bound.isMany else {
      throw QueryError(
        .typeMismatch, "'\(path)' is a collection, and one value is needed to \(isSort ? "order by" : "tell objects apart").",
        remedy: "Name a property that has one value, or an operator such as @count.", path: path.description)
    }
    if isSort, case .path(let found) = bound, found.transform == .none, case .objects = found.end {
      throw QueryError(
        .typeMismatch, "Objects cannot be ordered by '\(path)', which is a link.",
        remedy: "Order by a property of the linked object.", path: path.description)
    }
    return bound
  }

  /// The condition with each constant converted to the form its property is compared in, so that every evaluation, also an
  /// engine's own, sees the same constants.
  mutating func adapted(_ node: PredicateNode, depth: Int = 0) throws(QueryError) -> PredicateNode {
    // Nothing deeper is bound: `bind` throws.
    guard depth < Binder.depthLimit else { return node }
    switch node {
    case .constant: return node
    case .not(let inner): return .not(try adapted(inner, depth: depth + 1))
    case .and(let parts): return .and(try adapted(parts, depth: depth + 1))
    case .or(let parts): return .or(try adapted(parts, depth: depth + 1))
    case .comparison(let comparison):
      do throws(QueryError) { return .comparison(try adapted(comparison)) } catch { throw error.placed(in: comparison) }
    }
  }

  private mutating func adapted(_ comparison: Comparison) throws(QueryError) -> Comparison {
    var comparison = comparison
    if case .path(let path) = comparison.left, isSimple(comparison.left), let type = try? bind(path).type {
      if comparison.comparator == .in, case .constants(let values) = comparison.right {
        comparison.right = .constants(try Binder.choices(values, for: type))
      } else {
        comparison.right = try adapted(comparison.right, for: type)
      }
    } else if case .path(let path) = comparison.right, isSimple(comparison.right), let type = try? bind(path).type {
      comparison.left = try adapted(comparison.left, for: type)
    }
    return comparison
  }

  private mutating func adapted(_ parts: [PredicateNode], depth: Int) throws(QueryError) -> [PredicateNode] {
    var result: [PredicateNode] = []
    for part in parts { result.append(try adapted(part, depth: depth)) }
    return result
  }

  private func adapted(_ node: ExpressionNode, for type: ValueType) throws(QueryError) -> ExpressionNode {
    switch node {
    case .constant(let value): return .constant(try Binder.constant(value, for: type))
    case .constants(let values):
      var result: [Value] = []
      for value in values { result.append(try Binder.constant(value, for: type)) }
      return .constants(result)
    default: return node
    }
  }
}
