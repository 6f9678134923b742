import QueryModel

extension ResultsState {
  /// Where what is wrong by now was asked, or else what comes next.
  func place(or next: SourcePlace?) -> SourcePlace? { fault == nil ? next ?? place : place }

  /// The same, which cannot be asked.
  func failing(_ error: StoreError, at place: SourcePlace? = nil) -> ResultsState {
    ResultsState(store, context, query, source, fault: fault ?? error, at: self.place(or: place))
  }

  /// A further clause. Clauses apply in the order condition, sort, limit; after a limit, a distinct or an offset the next
  /// ones are asked of that result.
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

  /// Clauses at the end of those there are.
  func adding(_ clauses: [QueryClause], at place: SourcePlace?) -> ResultsState {
    var query = query
    for clause in clauses { query.append(clause) }
    return ResultsState(store, context, query, source, fault: fault, at: self.place(or: place))
  }

  /// Where what cannot be asked was asked.
  var faultPlace: SourcePlace? {
    if fault == nil, case .results(let outer) = source, outer.error != nil { return outer.faultPlace }
    return place
  }
}
