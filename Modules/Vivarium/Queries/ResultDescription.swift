import ChangeTracker
import Notifications
import QueryEngine
import QueryModel
import Storage
import Values

/// Results as a plain value: what is asked of what. Two that are equal are the same question, so their observers share
/// what keeps it.
struct ResultDescription: Sendable, Hashable {
  /// What the query is asked of.
  indirect enum Source: Sendable, Hashable {
    case all
    /// The elements of a list of one object.
    case list(ColumnID, of: ObjectKey)
    /// The objects whose relationship points to one object.
    case sources(of: ObjectKey, through: ColumnID)
    /// A result whose order or limit comes first.
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

  /// The keys that the query is asked of; nil: all.
  private func given(_ reading: any StorageReading) throws(StorageError) -> [Int64]? {
    switch source {
    case .all: return nil
    case .nothing: return []
    case .results(let outer): return try outer.keys(in: reading)
    case .list(let column, let owner):
      guard try reading.contains(column.table, owner) else { return [] }
      var keys: [Int64] = []
      try reading.elements(column, owner, 0..<Int.max) { batch in
        for row in 0..<batch.count { keys.append(batch.columns[0].word(at: row)) }
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

  private func bind(_ query: Query, _ catalog: Catalog) throws(StorageError) -> BoundQuery {
    do throws(QueryError) { return try BoundQuery(query, in: catalog) } catch {
      throw error.cause ?? StorageError(.misuse, .statement, error.message)
    }
  }
}

// MARK: - Keeping

extension ResultDescription {
  /// How the notifier makes and keeps it.
  var recipe: ResultRecipe {
    ResultRecipe(
      identity: self, keys: { reading throws(StorageError) in try keys(in: reading) }, question: { question(in: $0) })
  }

  private func question(in catalog: Catalog) -> ResultRecipe.Question {
    if case .all = source, let bound = try? BoundQuery(query, in: catalog),
      let kept = KeptQuery(query, in: catalog, matches: { key, reading throws(StorageError) in
        try bound.matches(key, in: reading)
      })
    {
      return .rows(kept)
    }
    return .whole(
      ComparedQuestion(table: catalog[query.type]?.id ?? TableID(0), reads: reads(in: catalog), roots: roots) {
        reading throws(StorageError) in try keys(in: reading)
      })
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
