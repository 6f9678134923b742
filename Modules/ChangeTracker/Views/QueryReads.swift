import QueryModel
import StorageInterface
import StoreValues

/// The properties that a query reads, as paths that can be followed back from changes, and the parts for which that is
/// impossible, so that the query cannot be kept row by row. Ignores its limit and clauses.
struct QueryReads {
  private(set) var paths: [ReadPath] = []
  /// One for each sort key that is a column.
  private(set) var columns: [SortColumn] = []
  /// Those parts as written, each with the reason, for people; empty if there are none.
  private(set) var obstacles: [String] = []

  init(_ query: Query, _ entry: TableEntry, _ catalog: Catalog) {
    var collector = ReadPathCollector(entry, catalog)
    for path in query.condition.paths(&obstacles) where !collector.add(path, isSort: false) {
      obstacles.append("'\(path)' \(QueryReads.reason(path))")
    }
    for key in query.sort {
      if !collector.add(key.path, isSort: true) {
        obstacles.append("the order by '\(key.path)' \(QueryReads.reason(key.path))")
      } else if let column = collector.sortColumn(key) {
        columns.append(column)
      }
    }
    paths = collector.paths
  }

  private static func reason(_ path: PropertyPath) -> String {
    path.components.contains("@links")
      ? "follows every type that points here" : "leads through a mixed value, which may link to any type"
  }
}

extension KeptQuery {
  /// Why a query cannot be kept row by row, each reason once; empty if it can. For explaining a result.
  package static func obstacles(_ query: Query, in catalog: Catalog) -> [String] {
    guard let entry = catalog[query.type] else { return ["there is no type '\(query.type)'"] }
    var told: Set<String> = []
    return QueryReads(query, entry, catalog).obstacles.filter { told.insert($0).inserted }
  }
}

extension PredicateNode {
  /// Every path that the condition reads; a part that cannot be kept row by row is added to `obstacles` instead.
  fileprivate func paths(_ obstacles: inout [String]) -> [PropertyPath] {
    switch self {
    case .constant: return []
    case .comparison(let comparison): return comparison.left.paths(&obstacles) + comparison.right.paths(&obstacles)
    case .and(let nodes), .or(let nodes):
      var paths: [PropertyPath] = []
      for node in nodes { paths += node.paths(&obstacles) }
      return paths
    case .not(let node): return node.paths(&obstacles)
    }
  }
}

extension ExpressionNode {
  fileprivate func paths(_ obstacles: inout [String]) -> [PropertyPath] {
    switch self {
    case .constant, .constants, .object, .mixed, .variable: return []
    case .list(let elements):
      var paths: [PropertyPath] = []
      for element in elements { paths += element.paths(&obstacles) }
      return paths
    case .path(let path): return [path]
    case .folded(let inner, _): return inner.paths(&obstacles)
    case .arithmetic(_, let left, let right): return left.paths(&obstacles) + right.paths(&obstacles)
    // Their reads are behind a collection with its own condition.
    case .quantified:
      obstacles.append("'\(self)' is a quantifier")
      return []
    case .subquery:
      obstacles.append("'\(self)' is a subquery")
      return []
    }
  }
}
