import QueryEngine
import QueryModel

extension Store {
  /// The objects that match a query, live like any results. For a query that was stored, sent or parsed from text.
  ///
  /// ```swift
  /// let query = try JSONDecoder().decode(Query.self, from: sent)
  /// let adults = store.objects(Person.self, matching: query)
  /// ```
  ///
  /// Reads nothing. An invalid query, for example one for another type, makes the results empty and sets their `error`. Check
  /// `error` before reading results of a query from elsewhere: reading the results of an invalid query is misuse.
  public func objects<T: Model>(
    _ type: T.Type, matching query: Query, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results<T> {
    var fault: StoreError?
    if query.type != T._$name {
      fault = StoreError(
        QueryError(
          .unknownType, "The query asks for '\(query.type)' and not for '\(T._$name)'.", remedy: "Ask for objects of its type."))
    }
    return Results(ResultsState(self, context(T.self), query, .all, fault: fault, at: SourcePlace(fileID: fileID, line: line)))
  }
}

extension Results {
  /// The query as a value that can be stored, sent and run in any store with the type; nil if it cannot be expressed without these
  /// results: for lists, inverses, and refinements after a limit.
  public var query: Query? {
    guard case .all = state.source, state.fault == nil else { return nil }
    return state.query
  }
}
