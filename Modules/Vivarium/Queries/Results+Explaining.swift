import ChangeTracker
import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

extension Results {
  /// Explains how these results are found in the version that is read: the index, the expected and the actual number of objects,
  /// the time; and how they are maintained when observed, with what prevents keeping them row by row.
  ///
  /// Evaluates the query once, on the caller, even if the result is known, and keeps nothing. For finding out why a query is slow,
  /// and for tests that an index is used:
  ///
  /// ```swift
  /// #expect(try people.where { $0.age == 30 }.explain().access == .index(properties: ["age"], runs: 1))
  /// ```
  ///
  /// Throws `error`, and errors of the disk.
  public func explain() throws(StoreError) -> ResultsExplanation { try state.explained() }
}

extension ResultsState {
  func explained() throws(StoreError) -> ResultsExplanation {
    if let error { throw error }
    store.settleDerived()
    store.reader.evaluationCount += 1
    let (description, reading, isKept) = (description, store.reading, store.isKept(self))
    return try storing { () throws(StorageError) in try description.explained(in: reading, isObserved: isKept).explanation }
  }
}

extension ResultDescription {
  /// The explanation, and the keys found.
  fileprivate func explained(
    in reading: any StorageReading, isObserved: Bool = false
  ) throws(StorageError) -> (explanation: ResultsExplanation, keys: [Int64]) {
    let bound = try bind(query, reading.catalog)
    var (keys, work, outer): ([Int64], QueryStatistics, ResultsExplanation?) = ([], QueryStatistics(), nil)
    let plan = try bound.explain(in: reading)
    var (access, estimate, testsEachRow) = (plan.access.shown(plan.columns), plan.estimatedRows, plan.testsEachRow)
    let begin = ContinuousClock.now
    if case .all = source {
      keys = try bound.keys(in: reading, statistics: &work)
    } else {
      var given: [Int64] = []
      if case .results(let inner) = source {
        let found = try inner.explained(in: reading)
        (given, outer) = (found.keys, found.explanation)
      } else {
        given = try self.given(reading) ?? []
      }
      keys = try bound.keys(among: given, in: reading)
      (access, estimate) = (self.access(outer, reading.catalog), given.count)
      testsEachRow = bound.constantCondition != true
      work.rowsRead = given.count
    }
    let time = begin.duration(to: .now)
    let explanation = ResultsExplanation(
      type: query.type, question: query.description, access: access, estimatedRows: estimate, testsEachRow: testsEachRow,
      sorts: plan.sorts, passedIndexes: outer == nil && access.isOfTable ? plan.passed : [], count: keys.count,
      rowsScanned: work.rowsScanned, entriesRead: work.entriesRead, objectsRead: work.rowsRead,
      time: time, upkeep: upkeep(in: reading.catalog), obstacles: obstacles(in: reading.catalog), isObserved: isObserved)
    return (explanation, keys)
  }

  private func access(_ outer: ResultsExplanation?, _ catalog: Catalog) -> ResultsExplanation.Access {
    func name(_ column: ColumnID) -> (type: String, property: String) {
      let entry = catalog[column.table]
      return (entry?.name ?? "", entry?[column.property]?.schema.name ?? "")
    }
    switch source {
    case .list(let column, _):
      let (type, property) = name(column)
      return .list(property: "\(type).\(property)")
    case .sources(_, let column):
      let (type, property) = name(column)
      return .inverse(type: type, property: property)
    case .results, .all, .nothing: return outer.map { .results($0) } ?? .nothing
    }
  }

  /// Why the results are not kept row by row; empty if they are.
  private func obstacles(in catalog: Catalog) -> [String] {
    guard upkeep(in: catalog) == .askedAgain else { return [] }
    let flat = flattened
    var reasons: [String] = []
    switch flat.source {
    case .all: break
    case .nothing: reasons.append("they are of nothing")
    case .list: reasons.append("they are elements of a list")
    case .sources: reasons.append("they are objects of an inverse")
    case .results: reasons.append("they are asked of results with an order, a limit or a distinct of their own")
    }
    for clause in flat.query.clauses {
      switch clause {
      case .distinct(let paths): reasons.append("of DISTINCT(\(paths.map(\.description).joined(separator: ", ")))")
      case .sort: reasons.append("of an order behind another clause")
      case .limit, .offset: break
      }
    }
    return reasons + KeptQuery.obstacles(flat.query, in: catalog)
  }
}

extension ResultsExplanation.Access {
  fileprivate var isOfTable: Bool {
    switch self {
    case .list, .inverse, .results: false
    case .nothing, .scan, .index, .engine: true
    }
  }
}

extension QueryExplanation {
  fileprivate var passed: [ResultsExplanation.PassedIndex] {
    passedOver.map { ResultsExplanation.PassedIndex(properties: $0.properties, rows: $0.rows) }
  }
}

extension QueryExplanation.Access {
  fileprivate func shown(_ columns: [String]) -> ResultsExplanation.Access {
    switch self {
    case .nothing: .nothing
    case .scan: .scan(columns: columns)
    case .index(let properties, let runs): .index(properties: properties, runs: runs)
    case .engine(let statement): .engine(statement: statement)
    }
  }
}
