import ChangeTracker
import Notifications
import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// Results as a plain value: a query and the objects it applies to. Equal descriptions are the same query, so their observers share
/// one kept result.
struct ResultDescription: Sendable, Hashable {
  /// The objects that the query applies to.
  indirect enum Source: Sendable, Hashable {
    case all
    /// The elements of a list of one object.
    case list(ColumnID, of: ObjectKey)
    /// The objects whose relationship points to one object.
    case sources(of: ObjectKey, through: ColumnID)
    /// Results whose order or limit applies before the query.
    case results(ResultDescription)
    case nothing
  }

  let query: Query
  let source: Source
}

extension ResultDescription {
  /// The keys of the rows, in order, in one version. Any thread.
  func keys(in reading: any StorageReading) throws(StorageError) -> [Int64] {
    let bound = try bind(query, reading.catalog)
    guard let given = try given(reading) else { return try bound.keys(in: reading) }
    return try bound.keys(among: given, in: reading)
  }

  /// The keys that the query applies to; nil: all.
  func given(_ reading: any StorageReading) throws(StorageError) -> [Int64]? {
    switch source {
    case .all: return nil
    case .nothing: return []
    case .results(let outer): return try outer.keys(in: reading)
    case .list(let column, let owner):
      guard try reading.contains(column.table, owner) else { return [] }
      var keys: [Int64] = []
      try reading.elements(column, owner, 0..<Int.max) { batch in
        // A map has null under a key whose object was deleted.
        for row in 0..<batch.count where !batch.columns[0].isNull(at: row) { keys.append(batch.columns[0].word(at: row)) }
        return .proceed
      }
      return keys
    case .sources(let target, let column):
      var keys: [Int64] = []
      try reading.sources(of: target, through: column) { block in
        keys += block
        return .proceed
      }
      return keys
    }
  }

  func bind(_ query: Query, _ catalog: Catalog) throws(StorageError) -> BoundQuery {
    do throws(QueryError) { return try BoundQuery(query, in: catalog) } catch {
      throw error.cause ?? StorageError(.misuse, .statement, error.message)
    }
  }
}

// MARK: - Keeping

extension ResultDescription {
  /// How the notifier creates and maintains the result.
  var recipe: ResultRecipe {
    ResultRecipe(
      identity: self, keys: { reading throws(StorageError) in try keys(in: reading) }, question: { question(in: $0.catalog) })
  }

  private func question(in catalog: Catalog) -> ResultRecipe.Question {
    if let (kept, window) = rowQuestion(in: catalog) {
      guard let window else { return .rows(kept) }
      let flat = flattened
      let whole = ResultDescription(query: flat.query.unlimited, source: flat.source)
      return .window(kept, window) { reading throws(StorageError) in try whole.keys(in: reading) }
    }
    return .whole(compared(in: catalog))
  }

  /// The query as one that is evaluated again after a commit that may have changed its result.
  func compared(in catalog: Catalog) -> ComparedQuestion {
    ComparedQuestion(table: catalog[query.type]?.id ?? TableID(0), reads: reads(in: catalog), roots: roots) {
      reading throws(StorageError) in try keys(in: reading)
    }
  }

  /// The query whose rows are kept one by one, and the window of it that this description shows; nil if rows cannot be kept so.
  private func rowQuestion(in catalog: Catalog) -> (KeptQuery, Range<Int>?)? {
    let flat = flattened
    let query = flat.query
    guard case .all = flat.source, let window = query.window, let bound = try? BoundQuery(query.unlimited, in: catalog),
      let kept = KeptQuery(
        query.unlimited, in: catalog,
        matches: { key, reading throws(StorageError) in try bound.matches(key, in: reading) },
        all: { keys, reading throws(StorageError) in try bound.matches(keys, in: reading) },
        order: { key, reading throws(StorageError) in try bound.orderKey(of: key, in: reading) ?? [] })
    else { return nil }
    return (kept, window == 0..<Int.max ? nil : window)
  }

  /// Determines a row's position, if each row is ordered by its own values and the rows are all that match; otherwise nil.
  func order(in catalog: Catalog) -> (any ViewQuestion)? {
    guard let (kept, window) = rowQuestion(in: catalog), window == nil else { return nil }
    return kept
  }

  /// This description as one query, if it only cuts a window out of other results; otherwise unchanged.
  var flattened: ResultDescription {
    guard case .results(let outer) = source, query.condition == .constant(true), query.sort.isEmpty else { return self }
    let inner = outer.flattened
    var merged = inner.query
    if let limit = query.limit { merged.append(.limit(limit)) }
    for clause in query.clauses { merged.append(clause) }
    return ResultDescription(query: merged, source: inner.source)
  }

  /// How the result is maintained while it is observed.
  func upkeep(in catalog: Catalog) -> ResultUpkeep {
    guard let (_, window) = rowQuestion(in: catalog) else { return .askedAgain }
    return window == nil ? .rowByRow : .window
  }

  private func reads(in catalog: Catalog) -> [ReadPath]? {
    guard let own = query.reads(in: catalog) else { return nil }
    switch source {
    case .all, .nothing, .list: return own
    case .sources(_, let column):
      return own + [ReadPath(table: column.table, properties: PropertySet([column.property]))]
    case .results(let outer): return outer.reads(in: catalog).map { own + $0 }
    }
  }

  private var roots: [ComparedQuestion.Root] {
    switch source {
    case .list(let column, let owner): [ComparedQuestion.Root(column: column, owner: owner)]
    case .results(let outer): outer.roots
    case .all, .nothing, .sources: []
    }
  }
}

extension Query {
  /// The positions of the ordered matching objects that limits and offsets leave; nil if other clauses occur among them.
  fileprivate var window: Range<Int>? {
    var window = 0..<max(limit ?? .max, 0)
    for clause in clauses {
      switch clause {
      case .limit(let count): window = window.lowerBound..<min(window.upperBound, window.lowerBound.adding(count))
      case .offset(let count): window = min(window.lowerBound.adding(count), window.upperBound)..<window.upperBound
      case .sort, .distinct: return nil
      }
    }
    return window
  }

  /// The query without its window.
  fileprivate var unlimited: Query {
    var query = self
    query.limit = nil
    query.clauses = []
    return query
  }
}

extension Int {
  /// The sum, at most `Int.max`.
  fileprivate func adding(_ count: Int) -> Int {
    let (sum, isOver) = addingReportingOverflow(Swift.max(count, 0))
    return isOver ? .max : sum
  }
}
