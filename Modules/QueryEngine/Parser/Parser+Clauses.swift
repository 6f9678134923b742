import QueryModel
import StoreValues

extension Parser {
  /// `SORT(…)`, `DISTINCT(…)`, `LIMIT(…)` and `OFFSET(…)` after the condition, applied from left to right.
  mutating func clauses(into query: inout Query) throws(QueryError) {
    while token.kind != .end {
      guard let keyword = token.keyword, ["sort", "distinct", "limit", "offset"].contains(keyword) else {
        throw fault("AND, OR, SORT, DISTINCT, LIMIT, OFFSET or the end")
      }
      guard query.clauses.count < Parser.clausesLimit else {
        throw error(.tooComplex, "More than \(Parser.clausesLimit) clauses follow the condition.", "Use fewer.", at: token.start)
      }
      try advance()
      try expect("(")
      switch keyword {
      case "sort": query.append(.sort(try sortKeys()))
      case "distinct": query.append(.distinct(try distinctPaths()))
      case "limit": query.append(.limit(try count()))
      default: query.append(.offset(try count()))
      }
      try expect(")")
    }
  }

  private mutating func count() throws(QueryError) -> Int {
    guard case .constant(.int(let count)) = token.kind, count >= 0, !hasHexPrefix else { throw fault("a number of objects") }
    try advance()
    return Int(count)
  }

  private mutating func distinctPaths() throws(QueryError) -> [PropertyPath] {
    var paths = [try valuePath()]
    while try take(",") { paths.append(try valuePath()) }
    return paths
  }

  private mutating func sortKeys() throws(QueryError) -> [SortKey] {
    var keys: [SortKey] = []
    repeat {
      let path = try valuePath()
      let isAscending: Bool
      switch token.keyword {
      case "asc", "ascending": isAscending = true
      case "desc", "descending": isAscending = false
      default: throw fault("ASC or DESC")
      }
      try advance()
      keys.append(SortKey(path, ascending: isAscending, folding: try options()))
    } while try take(",")
    return keys
  }

  /// A path without operators; in brackets, operators are allowed.
  private mutating func valuePath() throws(QueryError) -> PropertyPath {
    if try take("(") {
      let path = try path()
      try expect(")")
      return path
    }
    let start = token.start
    let path = try path()
    if let name = path.components.first(where: { $0.hasPrefix("@") }) {
      throw error(.syntax, "'\(name)' stands in SORT or DISTINCT in brackets alone.", "Write ((\(path)) DESC).", at: start)
    }
    return path
  }
}
