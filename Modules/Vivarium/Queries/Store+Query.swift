import QueryEngine
import QueryModel

extension Store {
  /// The objects that a query asks for, live like any results: for a query that was kept, sent or made from text.
  ///
  /// ```swift
  /// let query = try JSONDecoder().decode(Query.self, from: sent)
  /// let adults = store.objects(Person.self, matching: query)
  /// ```
  ///
  /// Reads nothing. What is wrong with the query, as that it asks for another type, makes the results empty and is in
  /// their `error`: look at that before reading results of a query that came from elsewhere, for reading what cannot be asked is a
  /// mistake of the program.
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
  /// What is asked, as a value that can be kept, sent and asked of any store with the type; nil where it cannot be said
  /// without these results: of a list, of an inverse, of what is left behind a limit.
  public var query: Query? {
    guard case .all = state.source, state.fault == nil else { return nil }
    return state.query
  }
}
