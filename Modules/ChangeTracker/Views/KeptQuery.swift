import QueryModel
import Storage
import Values

/// A query as a view keeps it: what it reads and how it orders are worked out here from the query and the catalog;
/// whether a row matches is asked of whoever bound the query.
///
/// Nil for what cannot be kept row by row, which is compared whole instead: a query with a limit, a quantifier or a
/// subquery, and one with a path that the catalog does not have.
package struct KeptQuery: ViewQuestion {
  package let table: TableID
  package let reads: [ReadPath]
  package let ordering: ViewOrdering
  private let columns: [SortColumn]
  private let condition: @Sendable (ObjectKey, any StorageReading) throws(StorageError) -> Bool

  package init?(
    _ query: Query, in catalog: Catalog,
    matches condition: @escaping @Sendable (ObjectKey, any StorageReading) throws(StorageError) -> Bool
  ) {
    guard query.limit == nil, query.clauses.isEmpty, let entry = catalog[query.type] else { return nil }
    var reads = ReadPathCollector(entry, catalog)
    guard let paths = query.condition.paths else { return nil }
    for path in paths {
      guard reads.add(path, isSort: false) else { return nil }
    }
    var columns: [SortColumn] = []
    for key in query.sort {
      guard reads.add(key.path, isSort: true), let column = reads.sortColumn(key) else { return nil }
      columns.append(column)
    }
    table = entry.id
    self.reads = reads.paths
    self.columns = columns
    self.condition = condition
    ordering = columns.isEmpty ? .byObjectKey : columns.count == 1 && columns[0].fitsPrefix ? .byPrefix : .byFullKey
  }

  package func matches(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> Bool {
    try condition(key, reading)
  }

  package func sortPrefix(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> UInt64 {
    if ordering == .byPrefix { return try columns[0].prefix(key, in: reading) }
    return SortKeyBytes.prefix(of: try sortKey(key, in: reading))
  }

  package func sortKey(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    for column in columns { try column.append(key, in: reading, to: &bytes) }
    return bytes
  }
}

extension PredicateNode {
  /// Every path that the condition reads; nil when it has a part that cannot be kept row by row.
  fileprivate var paths: [PropertyPath]? {
    switch self {
    case .constant: []
    case .comparison(let comparison): PredicateNode.joined([comparison.left.paths, comparison.right.paths])
    case .and(let nodes), .or(let nodes): PredicateNode.joined(nodes.map(\.paths))
    case .not(let node): node.paths
    }
  }

  fileprivate static func joined(_ lists: [[PropertyPath]?]) -> [PropertyPath]? {
    var result: [PropertyPath] = []
    for list in lists {
      guard let list else { return nil }
      result += list
    }
    return result
  }
}

extension ExpressionNode {
  fileprivate var paths: [PropertyPath]? {
    switch self {
    case .constant, .constants, .object, .variable: []
    case .list(let elements): PredicateNode.joined(elements.map(\.paths))
    case .path(let path): [path]
    case .folded(let inner, _): inner.paths
    case .arithmetic(_, let left, let right): PredicateNode.joined([left.paths, right.paths])
    // What they read lies behind a collection with a condition of its own.
    case .quantified, .subquery: nil
    }
  }
}
