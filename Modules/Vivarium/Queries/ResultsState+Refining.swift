import QueryModel

extension ResultsState {
  /// The source place of the existing fault, or else the next one.
  func place(or next: SourcePlace?) -> SourcePlace? { fault == nil ? next ?? place : place }

  /// The same results with an error.
  func failing(_ error: StoreError, at place: SourcePlace? = nil) -> ResultsState {
    ResultsState(store, context, query, source, fault: fault ?? error, at: self.place(or: place))
  }

  /// Adds a clause. Clauses apply in the order condition, sort, limit; after a limit, a distinct or an offset, further ones apply
  /// to that result.
  func refined(at place: SourcePlace? = nil, _ change: (inout Query) -> Void) -> ResultsState {
    if query.limit == nil, query.clauses.isEmpty {
      var refined = query
      change(&refined)
      return ResultsState(store, context, refined, source, fault: fault, at: self.place(or: place))
    }
    var later = Query(type: query.type)
    change(&later)
    return ResultsState(store, context, later, .results(self), at: place)
  }

  /// Adds clauses after the existing ones.
  func adding(_ clauses: [QueryClause], at place: SourcePlace?) -> ResultsState {
    var query = query
    for clause in clauses { query.append(clause) }
    return ResultsState(store, context, query, source, fault: fault, at: self.place(or: place))
  }

  /// The source place of the invalid query part.
  var faultPlace: SourcePlace? {
    if fault == nil, case .results(let outer) = source, outer.error != nil { return outer.faultPlace }
    return place
  }
}
