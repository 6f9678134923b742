import QueryEngine
import QueryModel
import StorageInterface

extension Store {
  /// How many bound queries a store remembers.
  private static let boundMax = 8

  /// A query bound to what is read now. Programs ask the same again and again (a view asks whenever it is drawn), so the
  /// latest are not bound twice: binding takes longer than to answer over an index.
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
