import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// An aggregate that can be computed over a property of a result.
enum Aggregate {
  case sum, average, least, greatest

  /// Computes the aggregate in the query engine, without creating objects.
  /// - Parameter keys: the objects, each counted as often as it occurs; nil: those that match the query.
  func value(
    _ query: BoundQuery, _ property: PropertyPath, of keys: [Int64]?, _ reading: any StorageReading
  ) throws(QueryError) -> Value {
    switch self {
    case .sum: try query.sum(property, of: keys, in: reading)
    case .average: try query.mean(property, of: keys, in: reading)
    case .least: try query.min(property, of: keys, in: reading)
    case .greatest: try query.max(property, of: keys, in: reading)
    }
  }
}

extension ResultsState {
  func compute(_ aggregate: Aggregate, of ordinal: Int) throws(StoreError) -> Value {
    if let error { throw error }
    store.settleDerived()
    if store.tracksReads { didRead() }
    var keys: [Int64]?
    if case .all = source { store.reader.evaluationCount += 1 } else { keys = self.keys().array }
    let query = try bound().get()
    do throws(QueryError) {
      return try aggregate.value(query, PropertyPath([context.names[ordinal]]), of: keys, store.reading)
    } catch {
      throw StoreError(error)
    }
  }
}
