import CVivariumSQLite
import QueryModel
import StorageInterface
import StoreValues

extension Snapshot: QueryPushdown {
  final func pushdown(_ query: Query) throws(StorageError) -> PushedQuery? {
    try enter()
    defer { leave() }
    guard let entry = catalog[query.type] else { return nil }
    let table = try layout.table(entry.id)
    var compiler = QueryCompiler(table)
    let (pushed, residual) = split(query.condition, &compiler)
    let order = order(query.sort, compiler)
    let isWhole = residual == .constant(true)
    let appliesLimit = isWhole && order != nil && query.limit != nil
    // Without a condition, an order or a limit, a scan is as good.
    guard !pushed.isEmpty || (order != nil && !query.sort.isEmpty) || appliesLimit else { return nil }
    var text = "SELECT _key FROM \(table.name)"
    if !pushed.isEmpty { text += " WHERE " + pushed.joined(separator: " AND ") }
    var key = "_key"
    // An expression is an order that no table walk provides, so SQLite uses the index first and sorts last.
    if order?.isEmpty ?? true, !appliesLimit, try finds(few: query.condition, table) { key = "+_key" }
    text += " ORDER BY " + ((order ?? []) + [key]).joined(separator: ", ")
    var arguments = compiler.arguments
    if appliesLimit, let limit = query.limit {
      text += " LIMIT ?"
      arguments.append(.int(Int64(max(0, limit))))
    }
    return PushedQuery(
      statement: text, arguments: arguments, residual: residual, ordersResult: order != nil && !query.sort.isEmpty,
      appliesLimit: appliesLimit)
  }

  /// The conjuncts that can be pushed, and the rest.
  private final func split(
    _ condition: PredicateNode, _ compiler: inout QueryCompiler
  ) -> (pushed: [String], residual: PredicateNode) {
    var pushed: [String] = []
    var rest: [PredicateNode] = []
    let parts: [PredicateNode] = if case .and(let parts) = condition { parts } else { [condition] }
    for part in parts where part != .constant(true) {
      if let text = compiler.condition(part) { pushed.append(text) } else { rest.append(part) }
    }
    switch rest.count {
    case 0: return (pushed, .constant(true))
    case 1: return (pushed, rest[0])
    default: return (pushed, .and(rest))
    }
  }

  /// Whether a one-sided comparison finds so few objects by an index that reading them and sorting their keys beats walking the
  /// table by key, which is what SQLite always does for such a comparison. Reads no more index entries than that number for each
  /// comparison, and none of the comparisons after the first `questionsMax`.
  private final func finds(few condition: PredicateNode, _ table: TableLayout) throws(StorageError) -> Bool {
    let parts: [PredicateNode] = if case .and(let parts) = condition { parts } else { [condition] }
    var asked = 0
    for part in parts {
      if asked == Snapshot.questionsMax { return false }
      var compiler = QueryCompiler(table)
      guard compiler.isOpenRange(part), let text = compiler.condition(part) else { continue }
      asked += 1
      let most = try objectCount(table) / Snapshot.rowsForOneFound
      let statement = try connection.take(text: "SELECT count(*) FROM (SELECT 1 FROM \(table.name) WHERE \(text) LIMIT ?)")
      defer { connection.finish(statement) }
      let arguments = compiler.arguments + [.int(Int64(most + 1))]
      for (at, argument) in arguments.enumerated() { try statement.bind(Int32(at) + 1, ordered: argument) }
      if try connection.step(statement, "look into an index"), statement.int64(0) <= Int64(most) { return true }
    }
    return false
  }

  /// The cost of a row found by an index, in rows of a table walk.
  private static let rowsForOneFound = 32
  /// The most comparisons that are looked up in an index before the query runs: all of them cost no more than the walk.
  private static let questionsMax = rowsForOneFound

  /// The terms of the order without the last tie-break; nil if SQLite cannot sort that way. A column's terms put null first and
  /// NaN second, reversed for descending.
  private final func order(_ keys: [SortKey], _ compiler: QueryCompiler) -> [String]? {
    var terms: [String] = []
    for key in keys {
      guard let column = compiler.column(key.path), column.cell.type != .link else { return nil }
      // Null is below everything in SQLite too: first ascending, last descending.
      terms += compiler.orderTerms(column).map { "\($0) \(key.ascending ? "ASC" : "DESC")" }
    }
    return terms
  }

  final func keys(_ pushed: PushedQuery, _ body: (UnsafeBufferPointer<Int64>) -> Step) throws(StorageError) {
    try enter()
    defer { leave() }
    try run(pushed, pushed.statement) { statement throws(StorageError) in
      _ = try KeyBlock.lend(statement, of: connection, body)
    }
  }

  final func count(_ pushed: PushedQuery) throws(StorageError) -> Int {
    try enter()
    defer { leave() }
    // SQLite ignores the order of a subquery that is only counted.
    let text = "SELECT count(*) FROM (\(pushed.statement))"
    var count = 0
    try run(pushed, text) { statement throws(StorageError) in
      if try connection.step(statement, "count") { count = Int(statement.int64(0)) }
    }
    return count
  }

  private final func run(
    _ pushed: PushedQuery, _ text: String, _ body: (Statement) throws(StorageError) -> Void
  ) throws(StorageError) {
    let statement = try connection.take(text: text)
    defer { connection.finish(statement) }
    guard sqlite3_stmt_readonly(statement.pointer) != 0,
      sqlite3_bind_parameter_count(statement.pointer) == pushed.arguments.count
    else { throw .misuse("The pushed query was not made by this engine.") }
    for (at, argument) in pushed.arguments.enumerated() { try statement.bind(Int32(at) + 1, ordered: argument) }
    try body(statement)
  }
}
