import QueryModel
import Storage
import Values

extension KeptQuery {
  /// The parts of a query for which it cannot be kept row by row, as they are written, each with the reason; empty where it
  /// can. Its limit and its clauses are not looked at. For people: whoever explains a result.
  package static func obstacles(_ query: Query, in catalog: Catalog) -> [String] {
    guard let entry = catalog[query.type] else { return ["there is no type '\(query.type)'"] }
    var found: [String] = []
    for path in query.condition.looks(&found) {
      var reads = ReadPathCollector(entry, catalog)
      if !reads.add(path, isSort: false) { found.append("'\(path)' \(reason(path))") }
    }
    for key in query.sort {
      var reads = ReadPathCollector(entry, catalog)
      if !reads.add(key.path, isSort: true) { found.append("the order by '\(key.path)' \(reason(key.path))") }
    }
    var told: Set<String> = []
    return found.filter { told.insert($0).inserted }
  }

  private static func reason(_ path: PropertyPath) -> String {
    path.components.contains("@links")
      ? "follows every type that points here" : "leads through a mixed value, which may link to any type"
  }
}

extension PredicateNode {
  /// The paths that are followed back from what changed; what is none is added to `found`.
  fileprivate func looks(_ found: inout [String]) -> [PropertyPath] {
    switch self {
    case .constant: return []
    case .comparison(let comparison): return comparison.left.looks(&found) + comparison.right.looks(&found)
    case .and(let nodes), .or(let nodes):
      var paths: [PropertyPath] = []
      for node in nodes { paths += node.looks(&found) }
      return paths
    case .not(let node): return node.looks(&found)
    }
  }
}

extension ExpressionNode {
  fileprivate func looks(_ found: inout [String]) -> [PropertyPath] {
    switch self {
    case .constant, .constants, .object, .variable: return []
    case .list(let elements):
      var paths: [PropertyPath] = []
      for element in elements { paths += element.looks(&found) }
      return paths
    case .path(let path): return [path]
    case .folded(let inner, _): return inner.looks(&found)
    case .arithmetic(_, let left, let right): return left.looks(&found) + right.looks(&found)
    case .quantified:
      found.append("'\(self)' is a quantifier")
      return []
    case .subquery:
      found.append("'\(self)' is a subquery")
      return []
    }
  }
}
