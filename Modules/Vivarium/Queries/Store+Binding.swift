import QueryEngine
import QueryModel
import StorageInterface

extension Store {
  /// The number of bound queries that a store caches.
  private static let boundMax = 8

  /// The query bound to the catalog read now. Programs repeat queries (a view does whenever it is drawn), so the latest are cached:
  /// binding takes longer than answering from an index.
  func bound(_ query: Query) throws(QueryError) -> BoundQuery {
    let catalog = reading.catalog
    if let known = reader.latelyBound.first(where: { $0.isBound(to: catalog) && $0.query == query }) { return known }
    let bound = try BoundQuery(query, in: catalog)
    if reader.latelyBound.count < Store.boundMax {
      reader.latelyBound.append(bound)
    } else {
      reader.latelyBound[reader.boundCount % Store.boundMax] = bound
    }
    reader.boundCount &+= 1
    return bound
  }
}
