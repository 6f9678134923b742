import QueryModel
import StorageInterface
import StoreValues

/// A question whose result is not kept row by row but evaluated again and compared: a query with a limit or a quantifier, a
/// list, an inverse.
package struct ComparedQuestion: Sendable {
  /// The list of one object.
  package struct Root: Sendable, Hashable {
    package var column: ColumnID
    package var owner: ObjectKey

    package init(column: ColumnID, owner: ObjectKey) {
      self.column = column
      self.owner = owner
    }
  }

  /// The table whose objects are the rows.
  package var table: TableID
  /// The properties that decide the rows and their order; nil if unknown, so that any commit may change them.
  package var reads: [ReadPath]?
  /// The lists whose elements are the rows; empty if every object of the table may be a row.
  package var roots: [Root]
  /// The keys of the rows, in order; an object as often as it is a row.
  package var keys: @Sendable (any StorageReading) throws(StorageError) -> [Int64]

  package init(
    table: TableID, reads: [ReadPath]?, roots: [Root] = [],
    keys: @escaping @Sendable (any StorageReading) throws(StorageError) -> [Int64]
  ) {
    self.table = table
    self.reads = reads
    self.roots = roots
    self.keys = keys
  }

  /// Whether the commit may have changed the rows or their order. Reads nothing.
  package func mayBeChanged(by record: CommitRecord) -> Bool { record.tables.contains { mayBeChanged(by: $0) } }

  private func mayBeChanged(by change: TableChange) -> Bool {
    guard let reads else { return true }
    for root in roots where root.column.table == change.table {
      if change.deleted.contains(root.owner.rawValue) { return true }
      if change.modified.contains(where: { $0.key == root.owner && $0.properties.contains(root.column.property) }) {
        return true
      }
    }
    if roots.isEmpty, change.table == table, !change.inserted.isEmpty || !change.deleted.isEmpty { return true }
    return reads.contains { path in
      guard path.table == change.table else { return false }
      if path.hasInverse, !change.inserted.isEmpty || !change.deleted.isEmpty { return true }
      return change.modified.contains { !$0.properties.isDisjoint(with: path.properties) }
    }
  }
}

extension Query {
  /// All properties that the condition and the order read, including those in quantifiers and subqueries; nil if the catalog
  /// lacks one of them.
  package func reads(in catalog: Catalog) -> [ReadPath]? {
    guard let entry = catalog[type] else { return nil }
    var reads = ReadPathCollector(entry, catalog)
    for path in condition.everyPath(PathScope()) {
      guard reads.add(path, isSort: false) else { return nil }
    }
    for key in sort {
      guard reads.add(key.path, isSort: true) else { return nil }
    }
    for clause in clauses {
      switch clause {
      case .sort(let keys): for key in keys { guard reads.add(key.path, isSort: true) else { return nil } }
      case .distinct(let paths): for path in paths { guard reads.add(path, isSort: true) else { return nil } }
      case .limit, .offset: break
      }
    }
    return reads.paths
  }
}

/// Where paths within a condition begin.
private struct PathScope {
  /// The variables of the enclosing subqueries, and their collections.
  var variables: [String: [String]] = [:]
  /// The collection of the innermost subquery: other names are those of its elements. Empty outside of any.
  var elements: [String] = []

  /// A path from the query's own objects. One that begins with SELF stays: nobody follows it.
  func resolved(_ path: PropertyPath) -> PropertyPath {
    guard let first = path.components.first, first != "SELF" else { return path }
    guard let collection = variables[first] else { return PropertyPath(elements + path.components) }
    return PropertyPath(collection + path.components.dropFirst())
  }
}

extension PredicateNode {
  fileprivate func everyPath(_ scope: PathScope) -> [PropertyPath] {
    switch self {
    case .constant: []
    case .comparison(let comparison): comparison.left.everyPath(scope) + comparison.right.everyPath(scope)
    case .and(let nodes), .or(let nodes): nodes.flatMap { $0.everyPath(scope) }
    case .not(let node): node.everyPath(scope)
    }
  }
}

extension ExpressionNode {
  fileprivate func everyPath(_ scope: PathScope) -> [PropertyPath] {
    switch self {
    // An object named by its key is compared alike whether it exists or not, as long as nothing links to it.
    case .constant, .constants, .object, .mixed, .variable: return []
    case .list(let elements): return elements.flatMap { $0.everyPath(scope) }
    case .path(let path): return [scope.resolved(path)]
    case .folded(let inner, _), .quantified(_, let inner): return inner.everyPath(scope)
    case .arithmetic(_, let left, let right): return left.everyPath(scope) + right.everyPath(scope)
    case .subquery(let subquery):
      let collection = scope.resolved(subquery.collection)
      var inner = scope
      inner.variables[subquery.variable] = collection.components
      inner.elements = collection.components
      return [collection] + subquery.condition.everyPath(inner)
    }
  }
}
