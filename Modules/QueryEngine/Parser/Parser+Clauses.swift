import QueryModel
import Values

extension Parser {
  /// `SORT(…)` and `LIMIT(…)` after the condition. A later SORT comes before an earlier one, because orders are
  /// stable; the smallest LIMIT counts.
  mutating func clauses(into query: inout Query) throws(QueryError) {
    while token.kind != .end {
      let start = token.start
      guard let keyword = token.keyword, ["sort", "distinct", "limit"].contains(keyword) else { throw fault("AND, OR, SORT, LIMIT or the end") }
      try advance()
      try expect("(")
      switch keyword {
      case "sort":
        let keys = try sortKeys()
        if query.limit != nil { throw wrongOrder("SORT", "LIMIT", at: start) }
        query.sort = keys + query.sort
      case "limit":
        guard case .constant(.int(let limit)) = token.kind, limit >= 0, !hasHexPrefix else { throw fault("a number of objects") }
        try advance()
        query.limit = min(query.limit ?? .max, Int(limit))
      default:
        _ = try path()
        while try take(",") { _ = try path() }
        if !token.isSymbol(")") { throw fault("')'") }
        try advance()
        try checkRest()
        throw error(.notSupported, "DISTINCT is not available yet.", "Remove it.", at: start)
      }
      try expect(")")
    }
  }

  private mutating func sortKeys() throws(QueryError) -> [SortKey] {
    var keys: [SortKey] = []
    repeat {
      let path = try path()
      switch token.keyword {
      case "asc", "ascending": keys.append(SortKey(path, ascending: true))
      case "desc", "descending": keys.append(SortKey(path, ascending: false))
      default: throw fault("ASC or DESC")
      }
      try advance()
    } while try take(",")
    return keys
  }

  /// Reads on for mistakes of grammar, which are reported before what is only not available.
  private mutating func checkRest() throws(QueryError) {
    var rest = Query(type: "")
    try clauses(into: &rest)
  }

  private func wrongOrder(_ clause: String, _ before: String, at position: Int) -> QueryError {
    error(.notSupported, "\(clause) after \(before) is not available yet.", "Put \(clause) first.", at: position)
  }
}
